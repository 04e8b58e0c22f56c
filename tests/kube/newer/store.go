// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The pods and the node, each with its version, and the events that a watch sends. Knows no HTTP.
package main

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

type object = map[string]any

// In the order in which a server writes it: evictd reads the head of an object that is too large.
type metadata struct {
	Name              string            `json:"name"`
	Namespace         string            `json:"namespace"`
	UID               string            `json:"uid"`
	ResourceVersion   string            `json:"resourceVersion"`
	Generation        int               `json:"generation"`
	CreationTimestamp string            `json:"creationTimestamp"`
	DeletionTimestamp string            `json:"deletionTimestamp,omitempty"`
	Labels            map[string]string `json:"labels,omitempty"`
	Annotations       map[string]string `json:"annotations,omitempty"`
	OwnerReferences   []object          `json:"ownerReferences,omitempty"`
}

type pod struct {
	Kind       string   `json:"kind"`
	APIVersion string   `json:"apiVersion"`
	Metadata   metadata `json:"metadata"`
	Spec       object   `json:"spec"`
	Status     object   `json:"status"`
}

func (p *pod) key() string { return p.Metadata.Namespace + "/" + p.Metadata.Name }

func copyOf(p *pod) *pod {
	text, _ := json.Marshal(p)
	var other pod
	_ = json.Unmarshal(text, &other)
	return &other
}

type event struct {
	version int
	Type    string `json:"type"`
	Object  any    `json:"object"`
}

type store struct {
	mutex   sync.Mutex
	version int
	made    int
	pods    map[string]*pod // by namespace/name
	node    object
	events  []event
	changed chan struct{} // closed at the next event
	budget  int           // how many evictions a disruption budget refuses
	tick    time.Duration // of the kubelet's status manager
}

func newStore(node string, tick time.Duration) *store {
	return &store{
		version: 100, pods: map[string]*pod{}, changed: make(chan struct{}), tick: tick,
		node: object{"kind": "Node", "apiVersion": "v1",
			"metadata": object{"name": node, "uid": "node-uid", "resourceVersion": "1"},
			"spec":     object{}, "status": object{"conditions": []any{}}},
	}
}

// With the mutex held. `p` was changed.
func (s *store) note(kind string, p *pod) {
	s.version++
	p.Metadata.ResourceVersion = fmt.Sprint(s.version)
	s.events = append(s.events, event{s.version, kind, copyOf(p)})
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *store) create(p *pod) *pod {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.made++
	p.Kind, p.APIVersion = "Pod", "v1"
	if p.Metadata.Namespace == "" {
		p.Metadata.Namespace = "default"
	}
	if p.Metadata.UID == "" {
		p.Metadata.UID = fmt.Sprintf("00000000-0000-4000-8000-%012d", s.made)
	}
	p.Metadata.Generation = 1
	p.Metadata.CreationTimestamp = time.Now().UTC().Format(time.RFC3339)
	if p.Status == nil {
		p.Status = object{"phase": "Running", "qosClass": "Burstable"}
	}
	s.pods[p.key()] = p
	s.note("ADDED", p)
	return copyOf(p)
}

// With the mutex held.
func (s *store) remove(p *pod) {
	if s.pods[p.key()] == p {
		delete(s.pods, p.key())
		s.note("DELETED", p)
	}
}

func (s *store) removeLater(p *pod, after time.Duration) {
	time.AfterFunc(after, func() {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		s.remove(p)
	})
}

// What kubelet 1.36.2 does when a pod's status was patched to Failed: a changed annotation ends the pod, with its reason
// and message away for a moment; without one the status manager writes its own status back with its next tick.
func (s *store) afterPatch(p *pod, annotated bool) {
	if p.Status["phase"] != "Failed" {
		return
	}
	reason, message := p.Status["reason"], p.Status["message"]
	set := func(after time.Duration, values object) {
		time.AfterFunc(after, func() {
			s.mutex.Lock()
			defer s.mutex.Unlock()
			if s.pods[p.key()] != p {
				return
			}
			for key, value := range values {
				if value == nil {
					delete(p.Status, key)
				} else {
					p.Status[key] = value
				}
			}
			s.note("MODIFIED", p)
		})
	}
	if annotated {
		set(100*time.Millisecond, object{"reason": nil, "message": nil})
		set(400*time.Millisecond, object{"reason": reason, "message": message})
		return
	}
	set(s.tick, object{"phase": "Running", "reason": nil, "message": nil})
}

// mergeConditions is the strategic merge of a list whose key is "type".
func mergeConditions(into []any, patch []any) []any {
	for _, one := range patch {
		found := false
		for i, other := range into {
			if other.(object)["type"] == one.(object)["type"] {
				merged := object{}
				for k, v := range other.(object) {
					merged[k] = v
				}
				for k, v := range one.(object) {
					merged[k] = v
				}
				into[i], found = merged, true
			}
		}
		if !found {
			into = append(into, one)
		}
	}
	return into
}

func list(value any) []any {
	some, _ := value.([]any)
	return some
}
