// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A server that answers as an API server and a kubelet 1.36.2 do, for what the newest version that is built here does not
// have: streaming lists, policy/v1, nodes/pods, allocated resources. With what goes wrong when a test asks for it. No
// admission, no validation but what evictd meets, and no containers.
//
// usage: newer -dir DIR -node NAME [-tick 10s]
// DIR has tls.crt, tls.key (read for each connection) and tokens (read for each request: TOKEN RIGHT...). Written: url and
// kubelet.url, when it listens; requests, a line for each.
package main

import (
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

type server struct {
	dir, nodeName string
	store         *store
	trouble       trouble
	log           *os.File
	mutex         sync.Mutex
	open          map[net.Conn]bool
	pods          podsAPI
}

func (s *server) listen(file string, handler http.HandlerFunc) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	web := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			answer := &passing{w}
			fmt.Fprintf(s.log, "%s %s\n", r.Method, r.URL.RequestURI())
			if !s.trouble.meets(answer, r) {
				handler(answer, r)
			}
		}),
		ErrorLog: log.New(os.Stderr, "", 0),
		TLSConfig: &tls.Config{NextProtos: []string{"h2", "http/1.1"},
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
				pair, err := tls.LoadX509KeyPair(filepath.Join(s.dir, "tls.crt"), filepath.Join(s.dir, "tls.key"))
				return &pair, err
			}},
		ConnState: func(connection net.Conn, state http.ConnState) {
			s.mutex.Lock()
			defer s.mutex.Unlock()
			if state == http.StateClosed {
				delete(s.open, connection)
			} else {
				s.open[connection] = true
			}
		},
	}
	go func() { log.Fatal(web.ServeTLS(listener, "", "")) }()
	write(filepath.Join(s.dir, file), "https://"+listener.Addr().String())
}

func write(file, text string) {
	if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
		log.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		log.Fatal(err)
	}
}

// passing can be given another writer beneath it, which cuts the answer off.
type passing struct{ http.ResponseWriter }

// A v1.Status, as servers refuse.
func refuse(w http.ResponseWriter, code int, reason, message string, details object) {
	w.Header().Set("Content-Type", "application/json")
	if seconds, ok := details["retryAfterSeconds"]; ok {
		w.Header().Set("Retry-After", fmt.Sprint(seconds))
	}
	w.WriteHeader(code)
	send(w, object{"kind": "Status", "apiVersion": "v1", "metadata": object{}, "status": "Failure",
		"message": message, "reason": reason, "details": details, "code": code})
}

func send(w http.ResponseWriter, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		log.Fatal(err)
	}
	_, _ = w.Write(append(text, '\n'))
	flush(w)
}

func flush(w http.ResponseWriter) {
	if flusher, ok := w.(*passing).ResponseWriter.(http.Flusher); ok {
		flusher.Flush()
	}
}

func answer(w http.ResponseWriter, code int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	send(w, value)
}

// allowed writes 401 or 403 where the request's token does not have one of these rights.
func (s *server) allowed(w http.ResponseWriter, r *http.Request, rights ...string) bool {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	tokens, _ := os.ReadFile(filepath.Join(s.dir, "tokens"))
	for _, line := range strings.Split(string(tokens), "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] != token {
			continue
		}
		for _, right := range rights {
			for _, has := range words[1:] {
				if has == right {
					return true
				}
			}
		}
		refuse(w, 403, "Forbidden", fmt.Sprintf("forbidden: User \"evictd\" cannot %s", strings.Join(rights, " or ")), object{})
		return false
	}
	refuse(w, 401, "Unauthorized", "Unauthorized", object{})
	return false
}

func main() {
	dir := flag.String("dir", "", "")
	node := flag.String("node", "n1", "")
	tick := flag.Duration("tick", 10*time.Second, "")
	flag.Parse()
	file, err := os.OpenFile(filepath.Join(*dir, "requests"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		log.Fatal(err)
	}
	s := &server{dir: *dir, nodeName: *node, store: newStore(*node, *tick), log: file, open: map[net.Conn]bool{}}
	s.listen("url", s.api)
	s.listen("kubelet.url", s.kubelet)
	s.control()
}
