// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// That only the API server's own word about that pod says that it is gone.
#include "reconcile/pod_absence.hpp"

#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "fakes/scripted_api_server.hpp"

namespace evictd::reconcile {
namespace {

const PodUid uid{"uid-1"};

std::string status_about(const std::string& kind, const std::string& name, const std::string& reason = "NotFound") {
    return R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","reason":")" + reason +
           R"(","details":{"name":")" + name + R"(","kind":")" + kind + R"("},"code":404})";
}

std::string pod_of(const std::string& of_uid) {
    return R"({"kind":"Pod","metadata":{"name":"web","namespace":"shop","uid":")" + of_uid + R"("},"spec":{}})";
}

class PodAbsenceTest : public testing::Test {
protected:
    [[nodiscard]] Result<bool> ask(long status, const std::string& body) {
        server->ready.emplace_back(port::ApiReply{.status = status, .body = body, .retry_after = {}});
        return absence.is_gone(uid, "shop/web");
    }
    std::shared_ptr<fakes::ScriptedApiServer> server = std::make_shared<fakes::ScriptedApiServer>();
    PodAbsence absence{server};
};

TEST_F(PodAbsenceTest, IsTheServersOwnWordAboutThatPod) {
    EXPECT_EQ(ask(404, status_about("pods", "web")), true);
    EXPECT_EQ(server->requests.at(0).path, "/api/v1/namespaces/shop/pods/web");
    EXPECT_EQ(ask(200, pod_of("uid-2")), true) << "another pod has the name";
    EXPECT_EQ(ask(200, pod_of("uid-1")), false);
}

// The API server has a static pod only as its mirror, which has a UID of its own; the manifest may give the static pod
// one that looks like the API server's.
TEST_F(PodAbsenceTest, AMirrorIsNoOtherPod) {
    for (const char* annotation : {"kubernetes.io/config.mirror", "kubernetes.io/config.hash"}) {
        const auto mirror_of = [&](const char* of_uid) {
            return std::string(R"({"kind":"Pod","metadata":{"name":"web","namespace":"shop","uid":"uid-2",)") +
                   R"("annotations":{")" + annotation + R"(":")" + of_uid + R"("}},"spec":{}})";
        };
        EXPECT_EQ(ask(200, mirror_of("uid-1")), false) << annotation;
        EXPECT_EQ(ask(200, mirror_of("uid-3")), true) << annotation;
    }
}

TEST_F(PodAbsenceTest, AllElseProvesNothing) {
    EXPECT_FALSE(ask(404, "404 page not found")) << "a proxy";
    EXPECT_FALSE(ask(404, "<html><head><title>404 Not Found</title></head><body>pods \"web\" not found</body></html>"));
    EXPECT_FALSE(ask(404, "")) << "cut off";
    EXPECT_FALSE(ask(401, status_about("pods", "web", "Unauthorized")));
    EXPECT_FALSE(ask(401, status_about("pods", "web"))) << "the status counts as well";
    EXPECT_FALSE(ask(429, status_about("pods", "web")));
    EXPECT_FALSE(ask(200, "<html>sign in</html>"));
    EXPECT_FALSE(ask(404, status_about("pods", "other")));
    EXPECT_FALSE(ask(404, status_about("namespaces", "web")));
    EXPECT_FALSE(ask(404, status_about("pods", "web", "")));
    EXPECT_FALSE(ask(403, status_about("pods", "web", "Forbidden")));
    EXPECT_FALSE(ask(500, status_about("pods", "web")));
    EXPECT_FALSE(ask(200, "{}"));
    EXPECT_FALSE(ask(200, pod_of("")));
    server->ready.emplace_back(fail(ErrorKind::unreachable, "API server", "connection refused"));
    EXPECT_FALSE(absence.is_gone(uid, "shop/web"));
    server->is_full = true;
    EXPECT_FALSE(absence.is_gone(uid, "shop/web"));
    EXPECT_FALSE(PodAbsence(nullptr).is_gone(uid, "shop/web"));
}

TEST_F(PodAbsenceTest, ANameThatIsNoneIsNotAskedFor) {
    for (const auto* name : {"shop", "shop/", "/web", "shop/..", "shop/web/status", "shop/a?b", "../web", "shop/W\n"}) {
        EXPECT_FALSE(absence.is_gone(uid, name)) << name;
    }
    EXPECT_TRUE(server->requests.empty());
}

TEST_F(PodAbsenceTest, AnAgentThatEndsIsNotHeldUp) {
    absence.cancel();
    EXPECT_FALSE(absence.is_gone(uid, "shop/web"));
    EXPECT_EQ(server->unanswered(), 1U);
}

}  // namespace
}  // namespace evictd::reconcile
