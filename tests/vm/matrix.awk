# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Reads matrix.yaml: sections of "key: value" pairs or of lists of them, plain or double-quoted values, [a, b] lists. Whatever
# else YAML allows is refused with its line: a matrix that is read otherwise than it looks would test something else.
# usage: awk -f matrix.awk matrix.yaml                names of all boots
#        awk -v turns=1 -f matrix.awk matrix.yaml     names of the boots with in_turns; 0: of the others
#        awk -v boot=NAME -f matrix.awk matrix.yaml   KEY<tab>VALUE lines; "skip|fewer<tab>CASE<tab>REASON"
function refuse(what) {
    print FILENAME ":" FNR ": " what > "/dev/stderr"
    failed = 1
    exit 1
}
function value_of(text,    words, count, i, list) {
    if (text ~ /^".*"$/) {
        text = substr(text, 2, length(text) - 2)
        if (text ~ /["\\]/) refuse("a quote or backslash inside quotes")
        return text
    }
    if (text ~ /^\[.*\]$/) {
        count = split(substr(text, 2, length(text) - 2), words, ",")
        for (i = 1; i <= count; i++) {
            gsub(/^ +| +$/, "", words[i])
            if (words[i] !~ /^[a-z0-9_.-]+$/) refuse("'" words[i] "' is no word of a list")
            list = list (i > 1 ? " " : "") words[i]
        }
        return list
    }
    if (text ~ /^[]["'{}&*!|>%@`#,?]/ || text ~ /: |:$| #/) refuse("put it in double quotes: " text)
    return text
}
function finish_boot() { # what every boot must say; a word it does not say has its default in run.sh
    if (name == "") return
    if (!((name, "kernel") in value)) refuse("boot '" name "' has no kernel")
    if (!((name, "cgroups") in value)) refuse("boot '" name "' has no cgroups")
    if (!((name, "has") in value)) refuse("boot '" name "' does not say what it has")
}
function check(key, text,    words, count, i) {
    if (key == "cgroups" && text !~ /^(v1|v2|hybrid)$/) refuse("cgroups is v1, v2 or hybrid, not '" text "'")
    if (key == "in_turns" && text != "yes") refuse("in_turns must be yes; leave it out otherwise")
    if (key == "bpf" && text !~ /^(on|off)$/) refuse("bpf is on or off, not '" text "'")
    if (key ~ /^(memory|cpus)$/ && text !~ /^[1-9][0-9]*$/) refuse(key " is a number, not '" text "'")
    if (key != "has") return
    count = split(text, words, " ")
    for (i = 1; i <= count; i++) if (!(words[i] in capability)) refuse("no capability '" words[i] "'")
}
/\t/ { refuse("a tab") }
/^ *(#|$)/ { next }
/ $/ { refuse("a blank at the end of the line") }
/^[a-z_]+:$/ {
    finish_boot()
    name = ""
    section = substr($0, 1, length($0) - 1)
    if (section !~ /^(capabilities|boots|fewer)$/) refuse("no section '" section "'")
    if (section in seen) refuse("section '" section "' again")
    seen[section] = 1
    next
}
!match($0, /^ +(- )?[a-z0-9_]+:( |$)/) { refuse("neither 'key: value' nor a list's item: " $0) }
{
    indent = match($0, /[^ ]/) - 1
    item = substr($0, indent + 1, 2) == "- "
    line = substr($0, indent + 1 + 2 * item)
    key = substr(line, 1, index(line, ":") - 1)
    text = substr(line, index(line, ":") + 2)
    nested = section == "boots" && indent == 6 && skipping && !item
    if (section == "") refuse("outside of a section")
    if (indent != (section == "capabilities" || item ? 2 : nested ? 6 : 4)) refuse("wrong indentation")
    if (text == "" && key != "skip") refuse("'" key "' without a value")
    if (text != "") text = value_of(text)
}
section == "capabilities" {
    if (item) refuse("no list here")
    if (key in capability) refuse("'" key "' again")
    capability[key] = 1
    known = known (known == "" ? "" : " ") key
    next
}
section == "boots" && item {
    finish_boot()
    skipping = 0
    if (key != "name") refuse("a boot begins with its name")
    if (text !~ /^[a-z0-9.-]+$/) refuse("'" text "' is no name")
    if (text in boots) refuse("boot '" text "' again")
    name = text
    boots[name] = 1
    order[++count] = name
    next
}
section == "boots" && nested {
    if ((name, key) in skip) refuse("'" key "' is skipped twice")
    skip[name, key] = 1
    lines[name] = lines[name] "skip\t" key "\t" text "\n"
    next
}
section == "boots" {
    if (name == "") refuse("a boot begins with '- name:'")
    if (key !~ /^(kernel|cgroups|has|bpf|memory|cpus|append|qemu|skip|in_turns)$/) refuse("a boot has no '" key "'")
    if ((name, key) in value) refuse("'" key "' again")
    check(key, text)
    value[name, key] = text
    skipping = key == "skip"
    if (skipping && text != "") refuse("the cases to skip go into lines of their own")
    if (!skipping) lines[name] = lines[name] key "\t" text "\n"
    next
}
section == "fewer" && item {
    if (key != "case") refuse("an item begins with its case")
    if (text in fewer) refuse("case '" text "' again")
    name = ""
    rare = text
    fewer[rare] = 1
    next
}
section == "fewer" {
    if (rare == "") refuse("an item begins with '- case:'")
    if (key !~ /^(boots|reason)$/) refuse("a case here has no '" key "'")
    if ((rare, key) in value_of_rare) refuse("'" key "' again")
    value_of_rare[rare, key] = text
    next
}
END {
    if (failed) exit 1
    finish_boot()
    for (rare in fewer) {
        if (!((rare, "boots") in value_of_rare) || !((rare, "reason") in value_of_rare))
            refuse("case '" rare "' lacks its boots or the reason")
        words_count = split(value_of_rare[rare, "boots"], words, " ")
        chosen = 0
        for (i = 1; i <= words_count; i++) {
            if (!(words[i] in boots)) refuse("case '" rare "': no boot '" words[i] "'")
            if (words[i] == boot) chosen = 1
        }
        if (boot != "" && !chosen)
            lines[boot] = lines[boot] "fewer\t" rare "\t" value_of_rare[rare, "reason"] "\n"
    }
    if (count == 0) refuse("no boots")
    if (boot == "") {
        for (i = 1; i <= count; i++) if (turns == "" || turns == ((order[i], "in_turns") in value)) print order[i]
        exit 0
    }
    if (!(boot in boots)) {
        for (i = 1; i <= count; i++) names = names " " order[i]
        print FILENAME ": no boot '" boot "' (" substr(names, 2) ")" > "/dev/stderr"
        exit 1
    }
    printf "known\t%s\n%s", known, lines[boot]
}
