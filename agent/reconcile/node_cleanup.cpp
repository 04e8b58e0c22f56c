// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "reconcile/node_cleanup.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <thread>

#include "evictd/model/url.hpp"
#include "sys/arrivals.hpp"

namespace evictd::reconcile {
namespace {

using namespace std::chrono_literals;

constexpr const char* api_server_name = "API server";
// With pauses of 1, 2, 4 and 8 s between them: a server that is being updated is back by then.
constexpr int most_tries_of_cleanup = 5;
constexpr Duration first_pause_of_cleanup = 1s;
// As long as the client leaves a server alone that asks for it.
constexpr std::chrono::seconds longest_pause_of_cleanup = 5min;
// The kubelet writes the node every 10 s at most.
constexpr int most_conflicts_of_a_node = 5;
// A token for the next page is valid for about 5 minutes.
constexpr int most_lists = 3;
constexpr long gone_status = 410;

bool is_temporary(const port::ApiReply& reply) { return reply.status == 429 || reply.status >= 500; }

Error refused(const std::string& what, const std::string& left, const port::ApiReply& reply, const char* right) {
    const bool is_right = reply.status == 401 || reply.status == 403;
    return {is_right ? ErrorKind::not_permitted : ErrorKind::failed, what,
            left + std::to_string(reply.status) + ": " + codec::refusal_text(reply.body),
            reply.status == 403 ? "grant " + std::string(right) : ""};
}

std::vector<std::string> own_taints(const codec::NodeObject& node) {
    std::vector<std::string> names;
    for (const auto& one : node.taints) {
        if (codec::is_own(one.taint.key)) {
            names.push_back("taint " + one.taint.key + ":" + one.taint.effect);
        }
    }
    return names;
}

std::vector<std::string> own_conditions(const codec::NodeObject& node) {
    std::vector<std::string> names;
    for (const auto& one : node.conditions) {
        names.push_back("condition " + one.type);
    }
    return names;
}

void add_new(const std::vector<std::string>& names, std::vector<std::string>& list) {
    for (const auto& name : names) {
        if (std::find(list.begin(), list.end(), name) == list.end()) {
            list.push_back(name);
        }
    }
}

void take_out(const std::vector<std::string>& names, std::vector<std::string>& list) {
    std::erase_if(list,
                  [&](const std::string& one) { return std::find(names.begin(), names.end(), one) != names.end(); });
}

port::ApiRequest taints_request(const codec::NodeObject& node) {
    return {.method = "PATCH",
            .path = "/api/v1/nodes/" + url_escaped(node.name),
            .content_type = codec::merge_patch,
            .body = codec::taints_patch(node, {})};
}

port::ApiRequest conditions_request(const codec::NodeObject& node) {
    codec::ConditionsChange change;
    for (const auto& one : node.conditions) {
        change.remove.push_back(one.type);
    }
    return {.method = "PATCH",
            .path = "/api/v1/nodes/" + url_escaped(node.name) + "/status",
            .content_type = codec::strategic_merge_patch,
            .body = codec::conditions_patch(node, change, {})};
}

}  // namespace

Status NodeCleanup::run(const OnNode& on_node) {
    std::vector<codec::NodeObject> nodes;
    if (options_.node.empty()) {
        auto all = list();
        if (!all) {
            return tl::unexpected(all.error());
        }
        nodes = std::move(*all);
    } else {
        auto one = read(options_.node);
        if (!one) {
            return tl::unexpected(one.error());
        }
        nodes.push_back(std::move(*one));
    }
    for (auto& node : nodes) {
        const auto cleaned = clean(std::move(node));
        if (!cleaned) {
            return tl::unexpected(cleaned.error());
        }
        if (!on_node(*cleaned)) {
            return {};
        }
    }
    return {};
}

Result<port::ApiReply> NodeCleanup::ask_once(const port::ApiRequest& request) {
    const auto answers = std::make_shared<sys::Arrivals<Result<port::ApiReply>>>();
    if (!api_.send(request, [answers](const Result<port::ApiReply>& reply) { answers->put(reply); })) {
        return fail(ErrorKind::failed, api_server_name, "the client takes no request");
    }
    auto answer = answers->take_within(options_.patience);
    return answer ? std::move(*answer) : fail(ErrorKind::unreachable, api_server_name, "no answer in time");
}

Result<port::ApiReply> NodeCleanup::ask(const port::ApiRequest& request) {
    Duration pause = first_pause_of_cleanup;
    for (int tries = 1;; ++tries) {
        auto reply = ask_once(request);
        const bool is_again = reply ? is_temporary(*reply) : reply.error().kind == ErrorKind::unreachable;
        if (!is_again) {
            return reply;
        }
        if (tries == most_tries_of_cleanup) {
            return reply ? fail(ErrorKind::unreachable, api_server_name,
                                std::to_string(reply->status) + ": " + codec::refusal_text(reply->body),
                                "try again later")
                         : reply;
        }
        const auto asked = reply ? reply->retry_after.value_or(0s) : 0s;
        const auto rest = std::max<Duration>(pause, std::min(asked, longest_pause_of_cleanup));
        if (options_.pause) {
            options_.pause(rest);
        } else {
            std::this_thread::sleep_for(rest);
        }
        pause *= 2;
    }
}

Result<codec::NodeObject> NodeCleanup::read(const std::string& name) {
    const auto what = "node " + name;
    auto reply = ask({.path = "/api/v1/nodes/" + url_escaped(name)});
    if (!reply) {
        return tl::unexpected(reply.error());
    }
    if (reply->status == 404) {
        return fail(ErrorKind::vanished, what, "no such node", "kubectl get nodes lists them");
    }
    if (!reply->accepted()) {
        return tl::unexpected(refused(what, "cannot be read: ", *reply, "get of nodes"));
    }
    auto node = codec::read_node(reply->body);
    if (!node || node->name != name) {
        return fail(ErrorKind::invalid, what, "what the API server answered is not this node");
    }
    return std::move(*node);
}

Result<codec::NodePage> NodeCleanup::list_page(const std::string& token) {
    while (true) {
        const auto path = "/api/v1/nodes?limit=" + std::to_string(nodes_a_page_) +
                          (token.empty() ? "" : "&continue=" + url_escaped(token));
        auto reply = ask({.path = path});
        if (!reply && reply.error().kind == ErrorKind::invalid && nodes_a_page_ > 1) {
            nodes_a_page_ /= 2;  // too large an answer: nodes with many images
            continue;
        }
        if (!reply) {
            return tl::unexpected(reply.error());
        }
        if (reply->status == gone_status) {
            return fail(ErrorKind::vanished, api_server_name, "the list of nodes expired while it was read",
                        "try again");
        }
        if (!reply->accepted()) {
            return tl::unexpected(refused(api_server_name, "nodes cannot be listed: ", *reply, "list of nodes"));
        }
        auto page = codec::read_nodes(reply->body);
        if (!page) {
            return fail(ErrorKind::invalid, api_server_name, "what it answered is not a list of nodes");
        }
        return std::move(*page);
    }
}

Result<std::vector<codec::NodeObject>> NodeCleanup::list_once() {
    std::vector<codec::NodeObject> all;
    std::string token;
    do {
        auto page = list_page(token);
        if (!page) {
            return tl::unexpected(page.error());
        }
        std::move(page->nodes.begin(), page->nodes.end(), std::back_inserter(all));
        token = page->next_page;
    } while (!token.empty());
    return all;
}

Result<std::vector<codec::NodeObject>> NodeCleanup::list() {
    auto all = list_once();
    for (int lists = 1; !all && all.error().kind == ErrorKind::vanished && lists < most_lists; ++lists) {
        all = list_once();
    }
    return all;
}

// An answer that was lost is a conflict at the next try: what is gone then was removed.
Result<CleanedNode> NodeCleanup::clean(codec::NodeObject node) {
    CleanedNode cleaned{.node = node.name, .removed = {}, .failed = {}};
    for (int conflicts = 0;; ++conflicts) {
        add_new(own_taints(node), cleaned.removed);
        add_new(own_conditions(node), cleaned.removed);
        if (options_.dry_run) {
            return cleaned;
        }
        const auto tried = try_once(node, cleaned);
        if (!tried) {
            return tl::unexpected(tried.error());
        }
        if (*tried == Tried::done) {
            return cleaned;
        }
        if (conflicts == most_conflicts_of_a_node) {
            take_out(own_taints(node), cleaned.removed);
            take_out(own_conditions(node), cleaned.removed);
            cleaned.failed.push_back({ErrorKind::failed, "node " + node.name,
                                      "it is changed all the time, and may not be clean", "try again"});
            return cleaned;
        }
        auto fresh = read(node.name);
        if (!fresh && fresh.error().kind == ErrorKind::vanished) {
            return cleaned;
        }
        if (!fresh) {
            return tl::unexpected(fresh.error());
        }
        node = std::move(*fresh);
        cleaned.failed.clear();
    }
}

// Taints first: they keep pods away. What cannot be removed for want of rights does not keep the other from going.
Result<NodeCleanup::Tried> NodeCleanup::try_once(const codec::NodeObject& node, CleanedNode& cleaned) {
    auto now = node;
    for (const bool is_taints : {true, false}) {
        const auto names = is_taints ? own_taints(now) : own_conditions(now);
        if (names.empty()) {
            continue;
        }
        const auto reply = ask(is_taints ? taints_request(now) : conditions_request(now));
        if (!reply) {
            return tl::unexpected(reply.error());
        }
        if (reply->status == 409) {
            return Tried::conflict;
        }
        if (reply->status == 404) {
            return Tried::done;  // the node is gone, and all of it with it
        }
        if (!reply->accepted()) {
            take_out(names, cleaned.removed);
            cleaned.failed.push_back(refused("node " + node.name,
                                             is_taints ? "its taints are left: " : "its conditions are left: ", *reply,
                                             is_taints ? "patch of nodes" : "patch of nodes/status"));
            continue;
        }
        if (auto patched = codec::read_node(reply->body); patched && patched->name == node.name) {
            now = std::move(*patched);
        }
    }
    return Tried::done;
}

}  // namespace evictd::reconcile
