// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors

// Renders a Helm chart as "helm template" does, as far as evictd's chart needs it (Debian has no helm): values against the
// schema, templates with sprig's functions, include, toYaml and the built-in objects. Can compare the result with other
// manifests: the same objects, whatever the order and the style; what is YAML in a ConfigMap counts as YAML.
//
// usage: chart [-release NAME] [-namespace NAME] [-kube VERSION] [-api GROUP/VERSION/KIND] [-values FILE] [-equals FILE | -json KIND/NAME] CHART
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"github.com/xeipuuv/gojsonschema"
	"gopkg.in/yaml.v3"
)

type object = map[string]interface{}

type apiVersions []string

func (a *apiVersions) String() string     { return strings.Join(*a, ",") }
func (a *apiVersions) Set(v string) error { *a = append(*a, v); return nil }

// Has is what templates call.
func (a apiVersions) Has(version string) bool {
	for _, known := range a {
		if known == version {
			return true
		}
	}
	return false
}

func readYAML(file string) (object, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	values := object{}
	if err := yaml.Unmarshal(text, &values); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return values, nil
}

// As Helm merges values: maps by key, everything else as a whole, null removes.
func merge(to, from object) {
	for key, value := range from {
		inner, isMap := value.(object)
		if old, ok := to[key].(object); ok && isMap {
			merge(old, inner)
		} else if value == nil {
			delete(to, key)
		} else {
			to[key] = value
		}
	}
}

func checkSchema(chart string, values object) error {
	text, err := json.Marshal(values)
	if err != nil {
		return err
	}
	schema, err := os.ReadFile(filepath.Join(chart, "values.schema.json"))
	if err != nil {
		return err
	}
	result, err := gojsonschema.Validate(gojsonschema.NewBytesLoader(schema), gojsonschema.NewBytesLoader(text))
	if err != nil {
		return err
	}
	if !result.Valid() {
		return fmt.Errorf("values: %s", result.Errors()[0])
	}
	return nil
}

func toYAML(value interface{}) (string, error) {
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	err := encoder.Encode(value)
	return strings.TrimSuffix(text.String(), "\n"), err
}

func parse(chart string) (*template.Template, error) {
	all := template.New("chart").Option("missingkey=zero")
	functions := sprig.TxtFuncMap()
	functions["toYaml"] = toYAML
	functions["include"] = func(name string, data interface{}) (string, error) {
		var text strings.Builder
		err := all.ExecuteTemplate(&text, name, data)
		return text.String(), err
	}
	files, err := filepath.Glob(filepath.Join(chart, "templates", "*"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if _, err := all.New(filepath.Base(file)).Funcs(functions).Parse(string(text)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func render(chart string, data object) (string, error) {
	templates, err := parse(chart)
	if err != nil {
		return "", err
	}
	files, _ := filepath.Glob(filepath.Join(chart, "templates", "*.yaml"))
	var all strings.Builder
	for _, file := range files {
		var text strings.Builder
		if err := templates.ExecuteTemplate(&text, filepath.Base(file), data); err != nil {
			return "", err
		}
		if strings.TrimSpace(text.String()) != "" {
			fmt.Fprintf(&all, "---\n%s\n", strings.TrimSpace(text.String()))
		}
	}
	var notes strings.Builder // must not fail either
	return all.String(), templates.ExecuteTemplate(&notes, "NOTES.txt", data)
}

// Each object by its kind, namespace and name.
func objectsOf(text string) (map[string]object, error) {
	found := map[string]object{}
	decoder := yaml.NewDecoder(strings.NewReader(text))
	for {
		one := object{}
		if err := decoder.Decode(&one); errors.Is(err, io.EOF) {
			return found, nil
		} else if err != nil {
			return nil, err
		}
		if len(one) == 0 {
			continue
		}
		metadata, _ := one["metadata"].(object)
		if data, ok := one["data"].(object); ok && one["kind"] == "ConfigMap" {
			for key, value := range data {
				inner := object{}
				if text, ok := value.(string); ok && yaml.Unmarshal([]byte(text), &inner) == nil {
					data[key] = inner
				}
			}
		}
		found[fmt.Sprint(one["kind"], " ", metadata["namespace"], "/", metadata["name"])] = one
	}
}

func compare(rendered, file string) (differences []string, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	ours, err := objectsOf(rendered)
	if err != nil {
		return nil, err
	}
	theirs, err := objectsOf(string(text))
	if err != nil {
		return nil, err
	}
	for name, one := range theirs {
		if other, ok := ours[name]; !ok {
			differences = append(differences, "the chart has no "+name)
		} else if !reflect.DeepEqual(one, other) {
			a, _ := toYAML(one)
			b, _ := toYAML(other)
			differences = append(differences, name+" differs:\n"+a+"\n-- and in the chart:\n"+b)
		}
	}
	for name := range ours {
		if _, ok := theirs[name]; !ok {
			differences = append(differences, "only the chart has "+name)
		}
	}
	sort.Strings(differences)
	return differences, nil
}

// The object KIND/NAME of what was rendered.
func asJSON(rendered, wanted string) error {
	all, err := objectsOf(rendered)
	for _, one := range all {
		metadata, _ := one["metadata"].(object)
		if fmt.Sprint(one["kind"], "/", metadata["name"]) == wanted {
			return json.NewEncoder(os.Stdout).Encode(one)
		}
	}
	if err == nil {
		err = errors.New("the chart has no " + wanted)
	}
	return err
}

func run() error {
	var apis apiVersions
	release := flag.String("release", "evictd", "")
	namespace := flag.String("namespace", "evictd", "")
	kube := flag.String("kube", "v1.20.2", "")
	more := flag.String("values", "", "")
	equals := flag.String("equals", "", "")
	wanted := flag.String("json", "", "")
	flag.Var(&apis, "api", "")
	flag.Parse()
	if flag.NArg() != 1 {
		return errors.New("usage: chart [FLAG...] CHART")
	}
	chart := flag.Arg(0)
	about, err := readYAML(filepath.Join(chart, "Chart.yaml"))
	if err != nil {
		return err
	}
	values, err := readYAML(filepath.Join(chart, "values.yaml"))
	if err != nil {
		return err
	}
	if *more != "" {
		own, err := readYAML(*more)
		if err != nil {
			return err
		}
		merge(values, own)
	}
	if err := checkSchema(chart, values); err != nil {
		return err
	}
	text, err := render(chart, object{
		"Values":       values,
		"Chart":        object{"Name": about["name"], "Version": about["version"], "AppVersion": about["appVersion"]},
		"Release":      object{"Name": *release, "Namespace": *namespace, "Service": "Helm"},
		"Capabilities": object{"KubeVersion": object{"Version": *kube}, "APIVersions": apis},
	})
	if err == nil && *wanted != "" {
		return asJSON(text, *wanted)
	}
	if err != nil || *equals == "" {
		fmt.Print(text)
		return err
	}
	differences, err := compare(text, *equals)
	if err == nil && len(differences) > 0 {
		err = errors.New(strings.Join(differences, "\n"))
	}
	return err
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "chart:", err)
		os.Exit(1)
	}
}
