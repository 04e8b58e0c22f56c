// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kube/cluster_pods.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "sys/clock.hpp"
#include "sys/log.hpp"

namespace evictd::kube {
namespace {

using namespace std::chrono_literals;

// Events come in bursts, such as the four of a pod that starts: one set for all of them. A pod is to be known 200 ms
// after it was created.
constexpr Duration pause_before_delivery = 10ms;
// Anyone who may change a pod may do so as often as they like, and each set is a look of the agent.
constexpr Duration pause_between_deliveries = 100ms;
// The agent's queue was full.
constexpr Duration pause_before_another_try = 1s;
// The kubelet's list, while the API server is up to date and while it is not. The kubelet puts all its pods into text
// for each answer: some 20 ms of a CPU for 110 pods, and as much for us. It also asks the API server who we are
// (TokenReview, remembered for 2 minutes) and what we may do (SubjectAccessReview, 5 minutes): each minute, that was
// three times the load on the API server of all else that an idle agent does. What changes in between has it asked
// at once.
constexpr Duration period_beside = 15min;
constexpr Duration period_alone = 10s;

bool stands_for_itself(const std::string& own_uid, const PodPtr& pod) { return own_uid == pod->uid.value; }

using ByUid = std::map<PodUid, PodPtr>;

ByUid by_uid(const ClusterPodList* list) {
    ByUid pods;
    if (list == nullptr) return pods;
    for (const auto& [own_uid, pod] : list->pods) {
        if (stands_for_itself(own_uid, pod)) pods.insert_or_assign(pod->uid, pod);
    }
    std::set<PodUid> claimed;
    for (const auto& [own_uid, pod] : list->pods) {
        if (stands_for_itself(own_uid, pod)) continue;
        // Two mirror pods of one UID: one of them is forged.
        if (!claimed.insert(pod->uid).second) {
            if (const auto other = pods.find(pod->uid);
                other != pods.end() && other->second->origin == PodOrigin::mirror)
                pods.erase(other);
        } else {
            pods.try_emplace(pod->uid, pod);
        }
    }
    return pods;
}

void take_ids(std::vector<Container>& containers, const std::vector<Container>& others) {
    for (auto& container : containers) {
        const auto same = std::find_if(others.begin(), others.end(),
                                       [&](const Container& other) { return other.name == container.name; });
        if (container.id.empty() && same != others.end()) container.id = same->id;
    }
}

bool lacks_ids(const std::vector<Container>& containers) {
    return std::any_of(containers.begin(), containers.end(), [](const Container& one) { return one.id.empty(); });
}

// What only the kubelet can tell of: its pods from the API server that the server has no more, deleted since, or
// force-deleted and still running; and mirror pods whose static pod it is not known to have.
std::set<std::string> doubtful(const ClusterPodList* of_api_server, const ClusterPodList* of_kubelet) {
    std::set<std::string> uids;
    if (of_api_server == nullptr || of_kubelet == nullptr) return uids;
    for (const auto& [own_uid, pod] : of_api_server->pods) {
        if (pod->origin == PodOrigin::mirror && !of_kubelet->pods.contains(pod->uid.value)) uids.insert(own_uid);
    }
    for (const auto& [uid, pod] : of_kubelet->pods) {
        if (pod->origin == PodOrigin::api && !of_api_server->pods.contains(uid)) uids.insert(uid);
    }
    return uids;
}

}  // namespace

PodPtr merge_pod(const PodPtr& of_api_server, const PodPtr& of_kubelet) {
    const bool same_origin = of_api_server->origin == of_kubelet->origin;
    if (same_origin && !lacks_ids(of_api_server->containers) && !lacks_ids(of_api_server->init_containers)) {
        return of_api_server;
    }
    auto pod = *of_api_server;
    pod.origin = of_kubelet->origin;
    take_ids(pod.containers, of_kubelet->containers);
    take_ids(pod.init_containers, of_kubelet->init_containers);
    return make_pod(std::move(pod));
}

std::vector<PodPtr> merge_pods(const ClusterPodList* of_api_server, const ClusterPodList* of_kubelet) {
    auto pods = by_uid(of_api_server);
    for (auto& [uid, pod] : by_uid(of_kubelet)) {
        const auto [known, is_new] = pods.try_emplace(uid, pod);
        if (is_new) continue;
        // Anyone who may create a pod may call it a mirror: the kubelet knows what it runs itself.
        known->second = known->second->origin == PodOrigin::mirror ? pod : merge_pod(known->second, pod);
    }
    std::vector<PodPtr> all;
    all.reserve(pods.size());
    for (auto& [uid, pod] : pods) all.push_back(std::move(pod));
    return all;
}

ClusterPods::ClusterPods(std::string name, AccessSource::Load access, std::string node,
                         std::optional<KubeletAddress> kubelet, ApiPodsTimes times,
                         std::optional<ApiNodeTimes> node_times)
    : name_("API server " + std::move(name)),
      access_(std::move(access)),
      node_(std::move(node)),
      kubelet_address_(std::move(kubelet)),
      times_(times),
      node_times_(node_times) {
    note_states();
}

ClusterPods::~ClusterPods() {
    server_->close();
    if (lane_) lane_->close();  // not reset(): what runs in it uses the pointer
    server_->drop();
}

Status ClusterPods::start(OnChange on_change) {
    if (lane_) return fail(ErrorKind::failed, describe(), "already started");
    on_change_ = std::move(on_change);
    auto lane =
        sys::Lane::make("evictd-kube", sys::Loop::default_queue, sys::Lane::default_drain, sys::Duty::may_block);
    if (!lane) return tl::unexpected(lane.error());
    lane_ = std::move(*lane);
    lane_->post([this] { begin(); });
    return {};
}

std::string ClusterPods::describe() const {
    return name_ + (kubelet_address_ ? ", kubelet " + kubelet_address_->url : "");
}

std::vector<PodSourceState> ClusterPods::states() const {
    const std::scoped_lock lock(mutex_);
    return states_;
}

void ClusterPods::begin() {
    auto soon = lane_->loop().add_timer([this] { deliver(); });
    if (!soon) return sys::log::error(describe() + ": " + soon.error().text());
    soon_ = std::move(*soon);
    const auto news = [this](bool changed) { on_news(changed); };
    connection_.emplace(*lane_, access_, server_->counters());
    api_.emplace(*lane_, *connection_, node_, times_, news);
    if (kubelet_address_) kubelet_.emplace(*lane_, *kubelet_address_, access_, [this] { on_news(true); });
    if (node_times_) {
        api_node_.emplace(*lane_, *connection_, node_, *node_times_, [this] { on_news(true); });
    }
    for (const auto& started :
         {api_->start(), api_node_ ? api_node_->start() : Status{}, kubelet_ ? kubelet_->start() : Status{}}) {
        if (!started) sys::log::error(describe() + ": " + started.error().text());
    }
    server_->open(*lane_, *connection_);
}

void ClusterPods::on_news(bool changed) {
    note_states();
    if (!changed) return;
    if (kubelet_) pace_kubelet();
    // Not pushed back by further events: a stream of them without a pause does not delay the delivery.
    if (std::exchange(is_delivery_due_, true)) return;
    soon_.arm(
        std::max(sys::SystemClock().monotonic() + pause_before_delivery, delivered_at_ + pause_between_deliveries));
}

// Once for each pod in doubt: it may be gone a moment later, and then it is not to be known until the next period.
void ClusterPods::pace_kubelet() {
    const bool is_alone = api_->fault().has_value();
    kubelet_->set_period(is_alone ? period_alone : period_beside, is_alone);
    auto now = doubtful(api_->pods(), kubelet_->pods());
    const bool is_new = !std::includes(asked_for_.begin(), asked_for_.end(), now.begin(), now.end());
    asked_for_ = std::move(now);
    if (is_new && !api_->fault()) kubelet_->ask_soon();
}

void ClusterPods::note_states() {
    std::vector<PodSourceState> states;
    states.push_back(state_of(name_, api_ ? api_->heard_at() : std::nullopt, api_ ? api_->fault() : std::nullopt));
    auto of_kubelet = kubelet_ ? kubelet_->states() : std::vector<PodSourceState>{};
    if (!kubelet_ && kubelet_address_) of_kubelet.push_back(state_of("kubelet " + kubelet_address_->url, {}, {}));
    std::move(of_kubelet.begin(), of_kubelet.end(), std::back_inserter(states));
    if (api_node_) {
        const auto& view = api_node_->view();
        states.push_back(state_of("node " + node_ + " in the API server",
                                  view ? std::optional(view->heard_at) : std::nullopt, api_node_->fault()));
    }
    const std::scoped_lock lock(mutex_);
    states_ = std::move(states);
}

port::PodSet ClusterPods::merged() const {
    const auto* of_api_server = api_ ? api_->pods() : nullptr;
    const auto* of_kubelet = kubelet_ ? kubelet_->pods() : nullptr;
    port::PodSet set{.pods = merge_pods(of_api_server, of_kubelet), .rejected = {}};
    for (const auto* list : {of_api_server, of_kubelet}) {
        if (list == nullptr) continue;
        for (const auto& [uid, error] : list->rejected) set.rejected.push_back(error);
    }
    set.current = of_api_server != nullptr && !api_->fault();
    if (api_node_) set.node = api_node_->view();
    if (api_ && api_->fault()) set.unread.push_back(*api_->fault());
    if (kubelet_ && kubelet_->fault()) set.unread.push_back(*kubelet_->fault());
    return set;
}

// Before the first list the set is empty, and carries only the faults.
void ClusterPods::deliver() {
    is_delivery_due_ = false;
    delivered_at_ = sys::SystemClock().monotonic();
    if (on_change_(merged())) return;
    is_delivery_due_ = true;
    soon_.arm_in(pause_before_another_try);
}

}  // namespace evictd::kube
