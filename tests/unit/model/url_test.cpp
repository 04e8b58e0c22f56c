// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Escapes of URLs.
#include "evictd/model/url.hpp"

#include <gtest/gtest.h>

namespace evictd {
namespace {

TEST(UrlEscaped, LeavesOnlyWhatIsUnreserved) {
    EXPECT_EQ(url_escaped("aZ09-._~"), "aZ09-._~");
    EXPECT_EQ(url_escaped("a/b?c=d&e \n\xff%"), "a%2Fb%3Fc%3Dd%26e%20%0A%FF%25");
}

}  // namespace
}  // namespace evictd
