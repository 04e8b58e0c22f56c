// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The API server's requests that evictd makes.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

func (s *server) api(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case r.URL.Path == "/api/v1/pods" && r.URL.Query().Get("watch") == "true":
		if s.allowed(w, r, "pods") {
			s.watch(w, r)
		}
	case r.URL.Path == "/api/v1/pods":
		if s.allowed(w, r, "pods") {
			s.list(w, r)
		}
	case r.URL.Path == "/api/v1/nodes" && r.URL.Query().Get("watch") == "true":
		if s.allowed(w, r, "nodes") {
			s.watchNode(w, r)
		}
	case len(parts) >= 6 && parts[4] == "pods":
		s.onePod(w, r, parts[3]+"/"+parts[5], parts[6:])
	case len(parts) >= 4 && parts[2] == "nodes":
		s.oneNode(w, r)
	case strings.HasSuffix(r.URL.Path, "/events"), strings.Contains(r.URL.Path, "/events/"):
		if s.allowed(w, r, "events") {
			answer(w, 201, object{"kind": "Event", "apiVersion": "v1", "metadata": object{"name": "e", "resourceVersion": "1"}})
		}
	default:
		refuse(w, 404, "NotFound", "the server could not find the requested resource", object{})
	}
}

func (s *server) selected(r *http.Request, p *pod) bool {
	wanted := strings.TrimPrefix(r.URL.Query().Get("fieldSelector"), "spec.nodeName=")
	return wanted == "" || p.Spec["nodeName"] == wanted
}

func (s *server) list(w http.ResponseWriter, r *http.Request) {
	s.store.mutex.Lock()
	items := []*pod{}
	for _, p := range s.store.pods {
		if s.selected(r, p) {
			items = append(items, copyOf(p))
		}
	}
	version := s.store.version
	s.store.mutex.Unlock()
	answer(w, 200, struct {
		Kind       string `json:"kind"`
		APIVersion string `json:"apiVersion"`
		Metadata   object `json:"metadata"`
		Items      []*pod `json:"items"`
	}{"PodList", "v1", object{"resourceVersion": fmt.Sprint(version)}, items})
}

// apimachinery's ValidateListOptions: what a watch may ask for.
func watchRefusal(sends, match string) string {
	if sends == "" && match != "" {
		return "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
	}
	if sends != "" && match != "NotOlderThan" {
		return "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
	}
	return ""
}

func bookmark(version int, annotations map[string]string) event {
	return event{Type: "BOOKMARK", Object: &pod{Kind: "Pod", APIVersion: "v1", Spec: object{"containers": nil}, Status: object{},
		Metadata: metadata{ResourceVersion: fmt.Sprint(version), Annotations: annotations}}}
}

// The events after `after`, and what tells of more; -1: the version is too old.
func (s *server) since(after int) ([]event, int, chan struct{}) {
	s.store.mutex.Lock()
	defer s.store.mutex.Unlock()
	oldest := s.store.version
	if len(s.store.events) > 0 {
		oldest = s.store.events[0].version - 1
	}
	if after < oldest {
		return nil, -1, nil
	}
	var news []event
	for _, one := range s.store.events {
		if one.version > after {
			news = append(news, one)
		}
	}
	return news, s.store.version, s.store.changed
}

// The first events of a streaming list, with the annotation that ends them.
func (s *server) initial(w http.ResponseWriter, r *http.Request) int {
	s.store.mutex.Lock()
	var pods []*pod
	for _, p := range s.store.pods {
		if s.selected(r, p) {
			pods = append(pods, copyOf(p))
		}
	}
	version := s.store.version
	s.store.mutex.Unlock()
	for _, p := range pods {
		send(w, event{Type: "ADDED", Object: p})
	}
	send(w, bookmark(version, map[string]string{"k8s.io/initial-events-end": "true"}))
	return version
}

func (s *server) watch(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	if why := watchRefusal(query.Get("sendInitialEvents"), query.Get("resourceVersionMatch")); why != "" {
		refuse(w, 422, "Invalid", "ListOptions.meta.k8s.io \"\" is invalid: "+why, object{"kind": "ListOptions"})
		return
	}
	seconds, _ := strconv.Atoi(query.Get("timeoutSeconds"))
	end := time.After(time.Duration(seconds) * time.Second)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(200)
	flush(w)
	after, _ := strconv.Atoi(query.Get("resourceVersion"))
	if query.Get("sendInitialEvents") == "true" {
		after = s.initial(w, r)
	}
	for {
		news, version, changed := s.since(after)
		if version < 0 {
			send(w, event{Type: "ERROR", Object: object{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 410,
				"reason": "Expired", "message": fmt.Sprintf("too old resource version: %d", after)}})
			return
		}
		for _, one := range news {
			if p := one.Object.(*pod); s.selected(r, p) {
				send(w, one)
			}
		}
		after = version
		select {
		case <-changed:
		case <-time.After(time.Minute): // cacher.go's bookmarkFrequency
			send(w, bookmark(after, nil))
		case <-end:
			return
		case <-r.Context().Done():
			return
		}
	}
}

// From version 0: the node as it is, then each change.
func (s *server) watchNode(w http.ResponseWriter, r *http.Request) {
	seconds, _ := strconv.Atoi(r.URL.Query().Get("timeoutSeconds"))
	end := time.After(time.Duration(seconds) * time.Second)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(200)
	kind, last := "ADDED", ""
	for turn := 0; ; turn++ {
		s.store.mutex.Lock()
		text, _ := json.Marshal(s.store.node)
		s.store.mutex.Unlock()
		if string(text) != last {
			send(w, event{Type: kind, Object: json.RawMessage(text)})
			kind, last = "MODIFIED", string(text)
		} else if turn == 3 { // a watch that lasts and brings something begins the client's back-off anew
			send(w, event{Type: "BOOKMARK", Object: object{"kind": "Node", "apiVersion": "v1", "metadata": object{"resourceVersion": "1"}}})
		}
		select {
		case <-time.After(500 * time.Millisecond):
		case <-end:
			return
		case <-r.Context().Done():
			return
		}
	}
}

func (s *server) oneNode(w http.ResponseWriter, r *http.Request) {
	if !s.allowed(w, r, "nodes") {
		return
	}
	s.store.mutex.Lock()
	defer s.store.mutex.Unlock()
	if r.Method == "PATCH" {
		var patch object
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, &patch); err != nil {
			refuse(w, 400, "BadRequest", err.Error(), object{})
			return
		}
		if status, ok := patch["status"].(object); ok {
			own := s.store.node["status"].(object)
			own["conditions"] = mergeConditions(list(own["conditions"]), list(status["conditions"]))
		}
		if spec, ok := patch["spec"].(object); ok {
			s.store.node["spec"].(object)["taints"] = spec["taints"]
		}
	}
	answer(w, 200, s.store.node)
}
