# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Draws a CSV as one SVG picture: lines with a legend, linear or logarithmic axes. It measures and sorts nothing: the
# points of a series are joined in the order of the file. For any awk, with no font or colour from outside.
# usage: awk -v title=T -v xlabel=X -v ylabel=Y [-v xlog=1] [-v ylog=1] [-v yline=VALUE,LABEL] [-v width=960]
#            [-v height=480] -f plot.awk data.csv > picture.svg          data.csv: a header line "series,x,y", then the rows
# Exit 1, and why on stderr: no rows, a value that is no number, or a zero on a logarithmic axis.

BEGIN {
    FS = ","
    if (!width) width = 960
    if (!height) height = 480
    # Okabe and Ito's colours, which most colour-blind people can tell apart; their yellow is too pale for white.
    shades = split("#0072B2 #D55E00 #009E73 #CC79A7 #000000 #E69F00 #56B4E9 #8C6D31", shade, " ")
    # Colours repeat after eight series; then the dashes differ.
    dashes[0] = ""; dashes[1] = "7 4"; dashes[2] = "2 3"
    many = 40  # More points than that of one series are a line without dots.
}

{ sub(/\r$/, "") }
NR == 1 { if ($0 != "series,x,y") stop("the first line is not series,x,y") ; next }
$0 == "" { next }
{
    if (NF != 3 || !number($2) || !number($3)) stop("not NAME,NUMBER,NUMBER: " $0)
    if ((xlog && $2 <= 0) || (ylog && $3 <= 0)) stop("no place on a logarithmic axis: " $0)
    if (!($1 in index_of)) { index_of[$1] = ++series; name[series] = $1 }
    s = index_of[$1]
    n = ++count[s]
    px[s, n] = $2 + 0; py[s, n] = $3 + 0
    grow("x", $2 + 0); grow("y", $3 + 0)
}

END {
    if (failed) exit 1
    if (!series) stop("no rows")
    split_line()
    make_axis("x", xlog); make_axis("y", ylog)
    place()
    head()
    ticks_x(); ticks_y()
    threshold()
    for (s = 1; s <= series; s++) draw(s)
    legend()
    print "</svg>"
}

function stop(why) { print "plot.awk: " why > "/dev/stderr"; failed = 1; exit 1 }
function number(text) { return text ~ /^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$/ }
function grow(axis, value) {
    if (!(axis in low) || value < low[axis]) low[axis] = value
    if (!(axis in high) || value > high[axis]) high[axis] = value
}
function log10(value) { return log(value) / log(10) }
function floor(value,  whole) { whole = int(value); return whole > value ? whole - 1 : whole }
function ceil(value) { return -floor(-value) }
function escape(text) { gsub(/&/, "\\&amp;", text); gsub(/</, "\\&lt;", text); gsub(/>/, "\\&gt;", text); return text }

# yline=VALUE,LABEL: the label may have commas.
function split_line(  comma) {
    if (yline == "") return
    comma = index(yline, ",")
    line_at = (comma ? substr(yline, 1, comma - 1) : yline)
    line_label = (comma ? substr(yline, comma + 1) : "")
    if (!number(line_at) || (ylog && line_at <= 0)) stop("yline is no number to draw: " yline)
    line_at += 0
    grow("y", line_at)
}

# Whole decades; or the next round step outside the values, and zero if it is near.
function make_axis(axis, is_log,  span, power, step) {
    logarithmic[axis] = is_log
    if (is_log) {
        from[axis] = floor(log10(low[axis]) + 1e-9); to[axis] = ceil(log10(high[axis]) - 1e-9)
        if (from[axis] == to[axis]) to[axis]++
        return
    }
    if (low[axis] > 0 && low[axis] < high[axis] / 2) low[axis] = 0
    span = high[axis] - low[axis]
    if (span <= 0) { span = high[axis] ? (high[axis] > 0 ? high[axis] : -high[axis]) : 1; high[axis] += span }
    power = exp(floor(log10(span / 6)) * log(10))
    step = span / 6 / power
    step = (step > 5.0001 ? 10 : step > 2.0001 ? 5 : step > 1.0001 ? 2 : 1) * power
    every[axis] = step
    from[axis] = floor(low[axis] / step + 1e-9) * step
    to[axis] = ceil(high[axis] / step - 1e-9) * step
}

# Text is measured by a guess of 6.6 pixels a letter at 12 pixels: nobody can ask for a font's width here.
function place(  s, longest) {
    for (s = 1; s <= series; s++) if (length(name[s]) > longest) longest = length(name[s])
    left = 86; top = title == "" ? 24 : 46; bottom = height - 58
    right = width - 52 - 6.9 * longest
    if (right < left + 200) right = left + 200
}
function at_x(value) {
    if (logarithmic["x"]) value = log10(value)
    return left + (value - from["x"]) / (to["x"] - from["x"]) * (right - left)
}
function at_y(value) {
    if (logarithmic["y"]) value = log10(value)
    return bottom - (value - from["y"]) / (to["y"] - from["y"]) * (bottom - top)
}

function head() {
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" ", width, height, width, height
    print "role=\"img\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">"
    printf "<title>%s</title>\n", escape(title)
    printf "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n", width, height
    if (title != "") printf "<text x=\"%d\" y=\"26\" font-size=\"16\" font-weight=\"bold\">%s</text>\n", left, escape(title)
    printf "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\" font-size=\"13\">%s</text>\n", (left + right) / 2, height - 14, escape(xlabel)
    printf "<text transform=\"translate(18 %.1f) rotate(-90)\" text-anchor=\"middle\" font-size=\"13\">%s</text>\n", (top + bottom) / 2, escape(ylabel)
}
function grid(x1, y1, x2, y2, colour) {
    printf "<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"%s\" fill=\"none\"/>\n", x1, y1, x2, y2, colour
}
function ticks_x(  i, value, x) {
    if (logarithmic["x"]) { for (i = from["x"]; i <= to["x"]; i++) tick_x(decade(i)) }
    else for (i = 0; (value = from["x"] + i * every["x"]) <= to["x"] + every["x"] / 2; i++) tick_x(value)
    grid(left, bottom, right, bottom, "#444")
}
function tick_x(value,  x) {
    x = at_x(value)
    grid(x, top, x, bottom, "#e4e4e4")
    printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n", x, bottom + 18, say(value, every["x"])
}
function ticks_y(  i, value) {
    if (logarithmic["y"]) { for (i = from["y"]; i <= to["y"]; i++) tick_y(decade(i)) }
    else for (i = 0; (value = from["y"] + i * every["y"]) <= to["y"] + every["y"] / 2; i++) tick_y(value)
    grid(left, top, left, bottom, "#444")
}
function tick_y(value,  y) {
    y = at_y(value)
    grid(left, y, right, y, "#e4e4e4")
    printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", left - 8, y + 4, say(value, every["y"])
}
# Not exp(): 1000 has to come out as 1000.
function decade(power,  value, i) {
    value = 1
    for (i = 0; i < power; i++) value *= 10
    for (i = 0; i > power; i--) value /= 10
    return value
}
# As many decimals as the step has; from a thousand on with commas; what is huge or tiny as a power.
function say(value, step,  decimals, text, tail, sign) {
    if (value > -1e-12 && value < 1e-12) return "0"
    sign = value < 0 ? "-" : ""
    if (value < 0) value = -value
    if (value >= 1e9 || value < 0.001) return sign sprintf("%g", value)
    if (!step) return sign (value < 1 ? sprintf("%g", value) : commas(sprintf("%.0f", value)))
    for (decimals = 0; decimals < 6 && step * decade(decimals) < 0.9999; decimals++) {}
    text = sprintf("%.*f", decimals, value)
    tail = ""
    if (index(text, ".")) { tail = substr(text, index(text, ".")); text = substr(text, 1, index(text, ".") - 1) }
    return sign commas(text) tail
}
function commas(digits,  out) {
    if (length(digits) < 4) return digits
    for (out = ""; length(digits) > 3; digits = substr(digits, 1, length(digits) - 3))
        out = "," substr(digits, length(digits) - 2) out
    return digits out
}
function threshold(  y) {
    if (yline == "") return
    y = at_y(line_at)
    printf "<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"#555\" stroke-width=\"1.5\" stroke-dasharray=\"6 4\" fill=\"none\"/>\n", left, y, right, y
    printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\" fill=\"#555\">%s</text>\n", right - 6, y - 6, escape(line_label)
}
function style(s) {
    dash = dashes[int((s - 1) / shades) % 3]
    return sprintf("stroke=\"%s\" stroke-width=\"2\" stroke-linejoin=\"round\" fill=\"none\"%s", colour(s),
                   dash == "" ? "" : " stroke-dasharray=\"" dash "\"")
}
function colour(s) { return shade[(s - 1) % shades + 1] }
function draw(s,  i) {
    printf "<path %s d=\"", style(s)
    for (i = 1; i <= count[s]; i++) printf "%s%.1f %.1f", i == 1 ? "M" : "L", at_x(px[s, i]), at_y(py[s, i])
    print "\"/>"
    if (count[s] > many) return
    for (i = 1; i <= count[s]; i++)
        printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"/>\n", at_x(px[s, i]), at_y(py[s, i]), colour(s)
}
function legend(  s, y) {
    for (s = 1; s <= series; s++) {
        y = top + 8 + (s - 1) * 20
        printf "<path %s d=\"M%.1f %.1fL%.1f %.1f\"/>\n", style(s), right + 14, y, right + 36, y
        printf "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", right + 42, y + 4, escape(name[s])
    }
}
