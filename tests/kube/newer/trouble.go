// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What goes wrong when a test asks for it, and the test's own requests: a socket DIR/control with plain HTTP.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Each for the next requests whose path and query contain Of.
type fault struct {
	Of         string
	Times      int
	Status     int    // instead of an answer, with Body or a v1.Status
	RetryAfter int    // seconds
	Delay      string // before the answer
	Cut        int    // the answer is cut off after so many bytes
	Body       string
}

type trouble struct {
	mutex  sync.Mutex
	faults []*fault
}

func (t *trouble) next(r *http.Request) *fault {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	for _, one := range t.faults {
		if one.Times > 0 && strings.Contains(r.URL.RequestURI(), one.Of) {
			one.Times--
			return one
		}
	}
	return nil
}

// cutting ends the connection in the middle of an answer.
type cutting struct {
	http.ResponseWriter
	left int
}

func (c *cutting) Write(bytes []byte) (int, error) {
	if c.left < len(bytes) {
		_, _ = c.ResponseWriter.Write(bytes[:c.left])
		c.Flush()
		panic(http.ErrAbortHandler)
	}
	c.left -= len(bytes)
	return c.ResponseWriter.Write(bytes)
}

func (c *cutting) Flush() {
	if flusher, ok := c.ResponseWriter.(http.Flusher); ok {
		flusher.Flush()
	}
}

// True: the request was answered.
func (t *trouble) meets(w *passing, r *http.Request) bool {
	one := t.next(r)
	if one == nil {
		return false
	}
	if wait, err := time.ParseDuration(one.Delay); err == nil {
		select {
		case <-time.After(wait):
		case <-r.Context().Done():
		}
	}
	if one.Cut > 0 {
		w.ResponseWriter = &cutting{w.ResponseWriter, one.Cut}
	}
	if one.Status == 0 {
		return false
	}
	if one.Body != "" {
		w.WriteHeader(one.Status)
		_, _ = io.WriteString(w, one.Body)
		return true
	}
	details := object{}
	if one.RetryAfter > 0 {
		details["retryAfterSeconds"] = one.RetryAfter
	}
	refuse(w, one.Status, "Trouble", "a fault that the test asked for", details)
	return true
}

// POST /pods: a pod; /touch: an event of each; /fault: the next fault; /faults/none; /budget?refuse=N; /events/forget: watches before now get 410;
// /connections/cut; /podsapi/... (podsapi.go); DELETE /pods/NAMESPACE/NAME; GET /pods/NAMESPACE/NAME.
func (s *server) control() {
	listener, err := net.Listen("unix", filepath.Join(s.dir, "control"))
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.Serve(listener, http.HandlerFunc(s.controlled)))
}

func (s *server) controlled(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	name := strings.TrimPrefix(r.URL.Path, "/pods/")
	var err error
	switch r.Method + " " + r.URL.Path {
	case "POST /pods":
		var made pod
		if err = json.Unmarshal(body, &made); err == nil {
			fmt.Fprintln(w, s.store.create(&made).Metadata.UID)
		}
	case "POST /fault":
		one := &fault{Times: 1}
		if err = json.Unmarshal(body, one); err == nil {
			s.trouble.mutex.Lock()
			s.trouble.faults = append(s.trouble.faults, one)
			s.trouble.mutex.Unlock()
		}
	case "POST /faults/none":
		s.trouble.mutex.Lock()
		s.trouble.faults = nil
		s.trouble.mutex.Unlock()
	case "POST /touch":
		s.store.mutex.Lock()
		for _, p := range s.store.pods {
			s.store.note("MODIFIED", p)
		}
		s.store.mutex.Unlock()
	case "POST /budget":
		s.store.mutex.Lock()
		_, err = fmt.Sscan(r.URL.Query().Get("refuse"), &s.store.budget)
		s.store.mutex.Unlock()
	case "POST /events/forget":
		s.store.mutex.Lock()
		s.store.events = nil
		s.store.version += 100
		close(s.store.changed)
		s.store.changed = make(chan struct{})
		s.store.mutex.Unlock()
	case "POST /podsapi/up", "POST /podsapi/without", "POST /podsapi/down", "POST /podsapi/refuse":
		err = s.podsControlled(r)
	case "POST /connections/cut":
		s.mutex.Lock()
		for connection := range s.open {
			_ = connection.Close()
		}
		s.mutex.Unlock()
	case "DELETE " + r.URL.Path, "GET " + r.URL.Path:
		s.store.mutex.Lock()
		defer s.store.mutex.Unlock()
		found := s.store.pods[name]
		if found == nil {
			http.Error(w, "no such pod", 404)
		} else if r.Method == "DELETE" {
			s.store.remove(found)
		} else {
			_ = json.NewEncoder(w).Encode(found)
		}
	}
	if err != nil {
		http.Error(w, err.Error(), 400)
	}
}
