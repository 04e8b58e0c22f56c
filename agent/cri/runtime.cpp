// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "cri/runtime.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "cri/fields.hpp"
#include "cri/messages.hpp"
#include "http/grpc_status.hpp"
#include "http/wire_writer.hpp"
#include "sys/clock.hpp"

namespace evictd::cri {
namespace {

// Of its verbose requests.
constexpr std::uint64_t verbose = 1;
// When so many sandboxes have not answered which image they are made of, no other is asked.
constexpr int most_unanswered = 3;

constexpr std::string_view runtime_service = "runtime.v1.RuntimeService";
constexpr std::string_view image_service = "runtime.v1.ImageService";

ErrorKind kind_of(int code) {
    switch (static_cast<http::GrpcCode>(code)) {
        case http::GrpcCode::not_found:
            return ErrorKind::vanished;
        case http::GrpcCode::cancelled:
        case http::GrpcCode::deadline_exceeded:
        case http::GrpcCode::unavailable:
            return ErrorKind::unreachable;
        case http::GrpcCode::permission_denied:
        case http::GrpcCode::unauthenticated:
            return ErrorKind::not_permitted;
        default:
            return ErrorKind::failed;
    }
}

tl::unexpected<Error> refused(std::string_view method, const Answer& answer) {
    const bool is_unknown = answer.is(http::GrpcCode::unimplemented);
    return fail(kind_of(answer.code), "container runtime's " + std::string(method),
                http::grpc_code_text(answer.code) + (answer.text.empty() ? "" : ": " + answer.text),
                is_unknown ? "evictd needs a runtime with CRI v1, as containerd 1.6 and CRI-O 1.23 have it" : "");
}

template <class Value>
Result<Value> value_of(std::string_view method, const Answer& answer, Result<Value> (*reader)(std::string_view)) {
    if (!answer.is(http::GrpcCode::ok)) return refused(method, answer);
    auto value = reader(answer.message);
    if (!value) value.error().what = "container runtime's " + std::string(method) + ": " + value.error().what;
    return value;
}

// A message whose field 1 is a text.
std::string with_text(std::string_view text, std::uint64_t number = 0) {
    http::WireWriter writer;
    writer.bytes(1, text);
    writer.number(2, number);
    return writer.take();
}

std::string nested(std::string_view message) { return with_text(message); }

}  // namespace

// The two methods for a list: one streams it, the other has it in one message. Both take the same filter.
struct Runtime::ListCalls {
    std::string_view service;
    std::string_view streamed;
    std::string_view whole;
};

Result<std::unique_ptr<Runtime>> Runtime::make(EndpointPtr endpoint, RuntimeLimits limits) {
    auto connection = Connection::make(std::move(endpoint));
    if (!connection) return tl::unexpected(connection.error());
    return std::unique_ptr<Runtime>(new Runtime(std::move(*connection), limits));
}

Result<std::unique_ptr<Runtime>> Runtime::make(std::string socket, RuntimeLimits limits) {
    return make(std::make_shared<Endpoint>(std::move(socket)), limits);
}

template <class Value>
Result<Value> Runtime::read(std::string_view service, std::string_view method, const std::string& request,
                            Duration limit, Result<Value> (*reader)(std::string_view)) {
    const auto answer = connection_->call(service, method, request, limit);
    if (!answer) return tl::unexpected(answer.error());
    return value_of(method, *answer, reader);
}

// As the kubelet does with CRIListStreaming (cri-client's remote_runtime.go, KEP-5825): a stream that fails is an
// error, and nothing of it is used. A runtime without streams, such as containerd 2.1, is asked for the list in one
// message.
template <class Element>
Result<std::vector<Element>> Runtime::list(const ListCalls& calls, Duration limit,
                                           Result<std::vector<Element>> (*reader)(std::string_view)) {
    std::vector<Element> all;
    const auto add = [&](std::string_view message) -> Status {
        auto some = reader(message);
        if (!some) return tl::unexpected(some.error());
        if (auto counted = check_count(all.size() + some->size()); !counted) return counted;
        std::move(some->begin(), some->end(), std::back_inserter(all));
        return {};
    };
    const auto answer = connection_->stream(calls.service, calls.streamed, {}, limit, add);
    if (!answer) return tl::unexpected(answer.error());
    if (answer->is(http::GrpcCode::unimplemented)) {
        return read(calls.service, calls.whole, {}, limit, reader);
    }
    if (!answer->is(http::GrpcCode::ok)) return refused(calls.streamed, *answer);
    return all;
}

// containerd takes the beginning of an ID for the ID, and without one a filter means all.
template <class Value>
Result<Value> Runtime::read_one(std::string_view method, const std::string& id, const std::string& request,
                                Result<Value> (*reader)(std::string_view)) {
    if (auto valid = check_id(id, "the request"); !valid) return tl::unexpected(valid.error());
    return read(runtime_service, method, request, limits_.read_one, reader);
}

Status Runtime::change(std::string_view service, std::string_view method, const std::string& id,
                       const std::string& request, Duration limit) {
    if (auto valid = check_id(id, "the request"); !valid) return valid;
    const auto answer = connection_->call(service, method, request, limit);
    if (!answer) return tl::unexpected(answer.error());
    return answer->is(http::GrpcCode::ok) ? Status{} : refused(method, *answer);
}

Result<RuntimeVersion> Runtime::version() {
    return read(runtime_service, "Version", with_text("0.1.0"), limits_.read_one, read_version);
}

Result<std::vector<RuntimeCondition>> Runtime::conditions() {
    return read(runtime_service, "Status", {}, limits_.read_one, read_conditions);
}

Result<std::string> Runtime::sandbox_image() {
    http::WireWriter writer;
    writer.number(1, verbose);
    auto said = read(runtime_service, "Status", writer.take(), limits_.read_one, read_sandbox_image);
    return said && said->empty() ? image_of_newest_sandbox() : std::move(said);
}

// The newest has what is configured now. One that vanishes meanwhile is no answer, and one whose shim hangs, or whose
// annotations are more than is read, holds up nothing: the one before it has the same image, unless that was changed in
// between.
Result<std::string> Runtime::image_of_newest_sandbox() {
    auto all = sandboxes();
    if (!all) return tl::unexpected(all.error());
    std::erase_if(*all, [](const RuntimeSandbox& one) { return !one.ready; });
    std::sort(all->begin(), all->end(), [](const auto& a, const auto& b) { return a.created > b.created; });
    Result<std::string> image;
    for (int unanswered = 0; const auto& one : *all) {
        image = read_one("PodSandboxStatus", one.id, with_text(one.id, verbose), read_image_of_sandbox);
        if (image) return image;
        if (image.error().kind == ErrorKind::vanished) {
            image = std::string();
        } else if (image.error().kind == ErrorKind::unreachable && ++unanswered == most_unanswered) {
            break;
        }
    }
    return image;
}

Result<std::vector<RuntimeSandbox>> Runtime::sandboxes() {
    constexpr ListCalls calls{runtime_service, "StreamPodSandboxes", "ListPodSandbox"};
    return list(calls, limits_.read, read_sandboxes);
}

Result<std::vector<RuntimeContainer>> Runtime::containers() {
    constexpr ListCalls calls{runtime_service, "StreamContainers", "ListContainers"};
    return list(calls, limits_.read, read_containers);
}

// containerd asks every shim before it answers, so that one that hangs holds up all.
Result<std::vector<RuntimeContainer>> Runtime::layers() {
    constexpr ListCalls calls{runtime_service, "StreamContainerStats", "ListContainerStats"};
    auto all = list(calls, limits_.read_one, read_layers);
    return all || all.error().kind != ErrorKind::unreachable ? std::move(all) : layers_of_pods();
}

// A pod has one shim.
Result<std::vector<RuntimeContainer>> Runtime::layers_of_pods() {
    const auto pods = sandboxes();
    if (!pods) return tl::unexpected(pods.error());
    const sys::SystemClock clock;
    const auto end = clock.monotonic() + limits_.read;
    std::vector<RuntimeContainer> found;
    for (const auto& pod : *pods) {
        if (clock.monotonic() >= end) break;
        http::WireWriter filter;
        filter.bytes(2, pod.id);
        auto layers = read(runtime_service, "ListContainerStats", nested(filter.take()), limits_.read_pod, read_layers);
        if (layers) {
            std::move(layers->begin(), layers->end(), std::back_inserter(found));
        } else if (layers.error().kind != ErrorKind::unreachable) {
            return layers;
        }
    }
    return found;
}

Result<std::vector<RuntimeContainer>> Runtime::layer(const std::string& id) {
    return read_one("ListContainerStats", id, nested(with_text(id)), read_layers);
}

Result<std::vector<RuntimeImage>> Runtime::images() {
    constexpr ListCalls calls{image_service, "StreamImages", "ListImages"};
    return list(calls, limits_.read, read_images);
}

Result<RuntimeFilesystems> Runtime::filesystems() {
    return read(image_service, "ImageFsInfo", {}, limits_.read_one, read_filesystems);
}

Result<RuntimeSandboxDetails> Runtime::sandbox(const std::string& id) {
    return read_one("PodSandboxStatus", id, with_text(id), read_sandbox);
}

Result<RuntimeContainerDetails> Runtime::container(const std::string& id) {
    return read_one("ContainerStatus", id, with_text(id, verbose), read_container);
}

Status Runtime::add_image_volumes(std::vector<RuntimeContainer>& containers) {
    auto asked = ask_image_volumes(containers);
    std::unordered_map<std::string, std::vector<std::string>> known;
    for (auto& one : containers) {
        const auto found = image_volumes_.find(one.id);
        if (found == image_volumes_.end()) continue;
        one.image_volumes = found->second;
        known.insert(*found);
    }
    image_volumes_ = std::move(known);
    return asked;
}

// What has been answered stays known if another call fails. Calls at once share the runtime's CPU and disk: where that
// makes each take longer than its limit, or there are too few descriptors, or an answer is large, one at a time gets
// further.
Status Runtime::ask_image_volumes(const std::vector<RuntimeContainer>& containers) {
    constexpr std::string_view method = "ContainerStatus";
    std::vector<std::string> ids;
    std::vector<std::string> requests;
    for (const auto& one : containers) {
        if (image_volumes_.contains(one.id)) continue;
        if (auto valid = check_id(one.id, "the request"); !valid) return valid;
        ids.push_back(one.id);
        requests.push_back(with_text(one.id));
    }
    if (ids.empty()) return {};
    const auto take = [&](std::size_t number, const Answer& answer) -> Status {
        auto volumes = value_of(method, answer, read_image_volumes);
        if (!volumes && volumes.error().kind != ErrorKind::vanished) return tl::unexpected(volumes.error());
        image_volumes_[ids[number]] = volumes ? std::move(*volumes) : std::vector<std::string>{};
        return {};
    };
    auto asked = connection_->call_each({.service = runtime_service,
                                         .method = method,
                                         .requests = requests,
                                         .at_once = is_slow_ ? 1 : most_calls_at_once,
                                         .limit = limits_.read_one,
                                         .end = sys::SystemClock().monotonic() + limits_.read},
                                        take);
    is_slow_ = !asked;
    return asked;
}

Status Runtime::stop_sandbox(const std::string& id) {
    return change(runtime_service, "StopPodSandbox", id, with_text(id), limits_.change);
}

Status Runtime::remove_sandbox(const std::string& id) {
    return change(runtime_service, "RemovePodSandbox", id, with_text(id), limits_.change);
}

Status Runtime::stop_container(const std::string& id, Duration grace) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(std::max(grace, Duration{}));
    return change(runtime_service, "StopContainer", id, with_text(id, static_cast<std::uint64_t>(seconds.count())),
                  limits_.change + seconds);
}

Status Runtime::remove_container(const std::string& id) {
    return change(runtime_service, "RemoveContainer", id, with_text(id), limits_.change);
}

Status Runtime::remove_image(const std::string& id) {
    return change(image_service, "RemoveImage", id, nested(with_text(id)), limits_.change);
}

}  // namespace evictd::cri
