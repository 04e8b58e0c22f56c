// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// See the header. Abstract addresses (an empty first byte) are not ours: they have no file mode.
#include "publish/unix_address.hpp"

#include <algorithm>
#include <iterator>

#include <sys/socket.h>

namespace evictd::publish {

Result<sockaddr_un> unix_address(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.empty() || path.size() >= std::size(address.sun_path) || path.find('\0') != std::string::npos) {
        return fail(ErrorKind::invalid, "socket " + path, "not a usable path", "at most 107 characters");
    }
    std::copy(path.begin(), path.end(), std::begin(address.sun_path));
    return address;
}

}  // namespace evictd::publish
