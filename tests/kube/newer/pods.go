// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Requests about one pod: its status, its eviction, its deletion. And the kubelet's own requests.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

func (s *server) onePod(w http.ResponseWriter, r *http.Request, name string, sub []string) {
	what := r.Method + " " + strings.Join(sub, "/")
	rights := map[string]string{"GET ": "pods", "PATCH status": "pods/status", "POST eviction": "pods/eviction", "DELETE ": "pods/delete"}
	if !s.allowed(w, r, rights[what]) {
		return
	}
	body, _ := io.ReadAll(r.Body)
	s.store.mutex.Lock()
	defer s.store.mutex.Unlock()
	p := s.store.pods[name]
	if p == nil {
		refuse(w, 404, "NotFound", fmt.Sprintf("pods %q not found", name), object{"kind": "pods", "name": name})
		return
	}
	switch what {
	case "GET ":
		answer(w, 200, p)
	case "PATCH status":
		s.patch(w, r, p, body)
	case "POST eviction":
		s.evict(w, p, body)
	case "DELETE ":
		s.end(w, p, body, 200)
	}
}

type podPatch struct {
	Metadata struct {
		UID             string            `json:"uid"`
		ResourceVersion string            `json:"resourceVersion"`
		Annotations     map[string]string `json:"annotations"`
	} `json:"metadata"`
	Status object `json:"status"`
}

func (s *server) patch(w http.ResponseWriter, r *http.Request, p *pod, body []byte) {
	var patch podPatch
	if err := json.Unmarshal(body, &patch); err != nil {
		refuse(w, 400, "BadRequest", err.Error(), object{})
		return
	}
	own := &p.Metadata
	if patch.Metadata.UID != "" && patch.Metadata.UID != own.UID {
		message := fmt.Sprintf("Pod %q is invalid: metadata.uid: Invalid value: %q: field is immutable", own.Name, patch.Metadata.UID)
		refuse(w, 422, "Invalid", message, object{"kind": "Pod", "name": own.Name, "causes": []any{object{
			"reason": "FieldValueInvalid", "field": "metadata.uid", "message": "field is immutable"}}})
		return
	}
	if patch.Metadata.ResourceVersion != "" && patch.Metadata.ResourceVersion != own.ResourceVersion {
		refuse(w, 409, "Conflict", "the object has been modified; please apply your changes to the latest version", object{})
		return
	}
	if r.URL.Query().Get("dryRun") != "" {
		answer(w, 200, p)
		return
	}
	annotated := false
	for key, value := range patch.Metadata.Annotations {
		if own.Annotations == nil {
			own.Annotations = map[string]string{}
		}
		annotated = annotated || own.Annotations[key] != value
		own.Annotations[key] = value
	}
	for key, value := range patch.Status {
		if key == "conditions" {
			value = mergeConditions(list(p.Status[key]), list(value))
		}
		p.Status[key] = value
	}
	s.store.note("MODIFIED", p)
	s.store.afterPatch(p, annotated)
	answer(w, 200, p)
}

type deleteOptions struct {
	GracePeriodSeconds *int `json:"gracePeriodSeconds"`
	Preconditions      struct {
		UID string `json:"uid"`
	} `json:"preconditions"`
}

func (s *server) evict(w http.ResponseWriter, p *pod, body []byte) {
	var eviction struct {
		APIVersion    string          `json:"apiVersion"`
		DeleteOptions json.RawMessage `json:"deleteOptions"`
	}
	if err := json.Unmarshal(body, &eviction); err != nil || eviction.APIVersion != "policy/v1" {
		// policy/v1beta1 went with 1.25.
		refuse(w, 400, "BadRequest", fmt.Sprintf("no kind \"Eviction\" is registered for version %q in scheme", eviction.APIVersion), object{})
		return
	}
	if s.store.budget > 0 {
		s.store.budget--
		refuse(w, 429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.", object{"retryAfterSeconds": 1,
			"causes": []any{object{"reason": "DisruptionBudget", "message": "The disruption budget web needs 1 healthy pods and has 1 currently"}}})
		return
	}
	s.end(w, p, eviction.DeleteOptions, 201)
}

func (s *server) end(w http.ResponseWriter, p *pod, body []byte, code int) {
	var options deleteOptions
	_ = json.Unmarshal(body, &options)
	if uid := options.Preconditions.UID; uid != "" && uid != p.Metadata.UID {
		refuse(w, 409, "Conflict", fmt.Sprintf("Precondition failed: UID in precondition: %s, UID in object meta: %s", uid, p.Metadata.UID), object{})
		return
	}
	p.Metadata.DeletionTimestamp = time.Now().UTC().Format(time.RFC3339)
	s.store.note("MODIFIED", p)
	s.store.removeLater(p, time.Second)
	answer(w, code, object{"kind": "Status", "apiVersion": "v1", "metadata": object{}, "status": "Success"})
}

// The kubelet: nodes/pods opens /pods, nodes/configz /configz; nodes/proxy opens both, as it did before.
func (s *server) kubelet(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/pods":
		if !s.allowed(w, r, "nodes/pods", "nodes/proxy") {
			return
		}
		s.store.mutex.Lock()
		items := []*pod{}
		for _, p := range s.store.pods {
			if p.Spec["nodeName"] == s.nodeName {
				own := copyOf(p)
				if own.Metadata.Annotations == nil {
					own.Metadata.Annotations = map[string]string{}
				}
				own.Metadata.Annotations["kubernetes.io/config.source"] = "api"
				items = append(items, own)
			}
		}
		s.store.mutex.Unlock()
		answer(w, 200, object{"kind": "PodList", "apiVersion": "v1", "metadata": object{}, "items": items})
	case "/configz":
		if s.allowed(w, r, "nodes/configz", "nodes/proxy") {
			answer(w, 200, object{"kubeletconfig": object{"evictionHard": object{"memory.available": "100Mi"}, "futureKey": object{"a": 1}}})
		}
	default:
		refuse(w, 404, "NotFound", "404 page not found", object{})
	}
}
