package io.railhead.client;

import io.railhead.os.adapter.QueuePairConfig;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * The gateway's response to {@code POST /.railhead/sessions}: the session, and where it is to be
 * proven.
 *
 * @param maxWindowBytes of a token's window
 */
record SessionGrant(String id, long maxWindowBytes, Map<String, List<String>> fields) {

    static SessionGrant parse(String json) throws IOException {
        Map<String, List<String>> fields = FlatJson.parse(json);
        long maxWindow = number(fields, "max_window");
        if (maxWindow < 1) {
            throw new PermanentException("the gateway's max_window is too small: " + maxWindow);
        }
        return new SessionGrant(require(fields, "session").getFirst(), maxWindow, fields);
    }

    /** The UNIX socket of a fabric on this host. */
    Path socket() throws IOException {
        return Path.of(require(fields, "socket").getFirst());
    }

    /** Addresses of the gateway's adapters, at least one. */
    List<String> addresses() throws IOException {
        return require(fields, "addresses");
    }

    int port() throws IOException {
        return (int) number(fields, "port");
    }

    /** Payload bytes of a packet that the gateway uses at most; the longest there are if unsaid. */
    int maxPathMtu() throws IOException {
        return fields.containsKey("path_mtu")
                ? (int) number(fields, "path_mtu")
                : QueuePairConfig.LONGEST_PATH_MTU;
    }

    /** Outstanding at a time. */
    int maxRequests() throws IOException {
        return (int) number(fields, "max_requests");
    }

    private static List<String> require(Map<String, List<String>> fields, String name)
            throws IOException {
        List<String> values = fields.getOrDefault(name, List.of());
        if (values.isEmpty()) {
            throw new PermanentException("the gateway's session has no " + name);
        }
        return values;
    }

    private static long number(Map<String, List<String>> fields, String name)
            throws IOException {
        String value = require(fields, name).getFirst();
        try {
            return Long.parseLong(value);
        } catch (NumberFormatException e) {
            throw new IOException("the gateway's " + name + " is not a number: " + value, e);
        }
    }
}
