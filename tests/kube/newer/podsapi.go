// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The kubelet's Pods API (KEP-4188), by a real gRPC server: WatchPods alone, which is what evictd calls. Off until a test
// asks for it, as in the kubelet.
package main

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Messages are bytes already.
type raw struct{}

func (raw) Marshal(v interface{}) ([]byte, error) { return v.([]byte), nil }
func (raw) Unmarshal(data []byte, v interface{}) error {
	*v.(*[]byte) = append([]byte(nil), data...)
	return nil
}
func (raw) String() string { return "proto" }

type podsAPI struct {
	mutex  sync.Mutex
	server *grpc.Server
	code   codes.Code // what each call is refused with; 0: none
}

func (s *server) podsSocket() string { return filepath.Join(s.dir, "pods-api", "pods-api.sock") }

// Ends the connections, in the middle of whatever it is.
func (s *server) podsDown() {
	if s.pods.server != nil {
		s.pods.server.Stop() // removes the socket
		s.pods.server = nil
	}
}

func (s *server) podsUp(withService bool) error {
	s.podsDown()
	if err := os.MkdirAll(filepath.Dir(s.podsSocket()), 0o750); err != nil {
		return err
	}
	listener, err := net.Listen("unix", s.podsSocket())
	if err != nil {
		return err
	}
	s.pods.server = grpc.NewServer(grpc.CustomCodec(raw{}))
	if withService {
		s.pods.server.RegisterService(&grpc.ServiceDesc{ServiceName: "v1alpha1.Pods", HandlerType: (*interface{})(nil),
			Streams: []grpc.StreamDesc{{StreamName: "WatchPods", ServerStreams: true,
				Handler: func(_ interface{}, stream grpc.ServerStream) error { return s.watchPods(stream) }}}}, s)
	}
	go func(server *grpc.Server) { _ = server.Serve(listener) }(s.pods.server)
	return nil
}

// POST /podsapi/up, /podsapi/without (another service), /podsapi/down, /podsapi/refuse?code=N.
func (s *server) podsControlled(r *http.Request) error {
	s.pods.mutex.Lock()
	defer s.pods.mutex.Unlock()
	switch r.URL.Path {
	case "/podsapi/up":
		s.pods.code = 0
		return s.podsUp(true)
	case "/podsapi/without":
		return s.podsUp(false)
	case "/podsapi/down":
		s.podsDown()
		return nil
	case "/podsapi/refuse":
		_, err := fmt.Sscan(r.URL.Query().Get("code"), &s.pods.code)
		s.podsDown()
		if err == nil {
			err = s.podsUp(true)
		}
		return err
	}
	return fmt.Errorf("no %s", r.URL.Path)
}

// EventType of api.proto.
var eventTypes = map[string]uint64{"ADDED": 1, "MODIFIED": 2, "DELETED": 3, "INITIAL_SYNC_COMPLETE": 4}

func (s *server) watchPods(stream grpc.ServerStream) error {
	fmt.Fprintf(s.log, "gRPC WatchPods\n")
	var request []byte
	if err := stream.RecvMsg(&request); err != nil {
		return err
	}
	if s.pods.code != 0 {
		return status.Error(s.pods.code, "Kubelet is initializing")
	}
	tell := func(kind string, p *pod) error {
		event := number(nil, 1, eventTypes[kind])
		if p != nil {
			event = text(event, 2, string(encode(p, kind == "DELETED")))
		}
		return stream.SendMsg(event)
	}
	s.store.mutex.Lock()
	var pods []*pod
	for _, p := range s.store.pods {
		pods = append(pods, copyOf(p))
	}
	after := s.store.version
	s.store.mutex.Unlock()
	for _, p := range pods {
		if err := tell("ADDED", p); err != nil {
			return err
		}
	}
	if err := tell("INITIAL_SYNC_COMPLETE", nil); err != nil {
		return err
	}
	for {
		news, version, changed := s.since(after)
		if version < 0 { // the test forgot events
			return status.Error(codes.ResourceExhausted, "watch client channel closed")
		}
		for _, one := range news {
			if err := tell(one.Type, one.Object.(*pod)); err != nil {
				return err
			}
		}
		after = version
		select {
		case <-changed:
		case <-stream.Context().Done():
			return stream.Context().Err()
		}
	}
}

func number(to []byte, field int, value uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(to, uint64(field)<<3), value)
}

func text(to []byte, field int, value string) []byte {
	to = binary.AppendUvarint(to, uint64(field)<<3|2)
	return append(binary.AppendUvarint(to, uint64(len(value))), value...)
}

func texts(to []byte, field int, values map[string]string) []byte {
	for key, value := range values {
		to = text(to, field, string(text(text(nil, 1, key), 2, value)))
	}
	return to
}

func quantities(to []byte, field int, values any) []byte {
	some, _ := values.(object)
	for key, value := range some {
		to = text(to, field, string(text(text(nil, 1, key), 2, string(text(nil, 1, fmt.Sprint(value))))))
	}
	return to
}

func word(of object, key string) string {
	value, _ := of[key].(string)
	return value
}

// The fields of generated.proto that evictd reads and the tests set. Of a deleted pod, its name alone.
func encode(p *pod, deleted bool) []byte {
	metadata := text(text(text(nil, 1, p.Metadata.Name), 3, p.Metadata.Namespace), 5, p.Metadata.UID)
	if deleted {
		return text(text(text(nil, 1, string(metadata)), 2, ""), 3, "")
	}
	metadata = number(text(metadata, 6, p.Metadata.ResourceVersion), 7, uint64(p.Metadata.Generation))
	if at, err := time.Parse(time.RFC3339, p.Metadata.CreationTimestamp); err == nil {
		metadata = text(metadata, 8, string(number(nil, 1, uint64(at.Unix()))))
	}
	metadata = texts(texts(metadata, 11, p.Metadata.Labels), 12, p.Metadata.Annotations)
	metadata = texts(metadata, 12, map[string]string{"kubernetes.io/config.source": "api"})
	var spec, of []byte
	for _, one := range list(p.Spec["containers"]) {
		resources, _ := one.(object)["resources"].(object)
		spec = text(spec, 2, string(text(text(nil, 1, word(one.(object), "name")), 8,
			string(quantities(quantities(nil, 1, resources["limits"]), 2, resources["requests"])))))
	}
	if grace, ok := p.Spec["terminationGracePeriodSeconds"].(float64); ok {
		spec = number(spec, 4, uint64(grace))
	}
	spec = text(spec, 10, word(p.Spec, "nodeName"))
	of = text(text(of, 1, word(p.Status, "phase")), 3, word(p.Status, "message"))
	of = text(text(of, 4, word(p.Status, "reason")), 9, word(p.Status, "qosClass"))
	for _, one := range list(p.Status["containerStatuses"]) {
		container := text(text(nil, 1, word(one.(object), "name")), 8, word(one.(object), "containerID"))
		of = text(of, 8, string(quantities(container, 10, one.(object)["allocatedResources"])))
	}
	return text(text(text(nil, 1, string(metadata)), 2, string(spec)), 3, string(of))
}
