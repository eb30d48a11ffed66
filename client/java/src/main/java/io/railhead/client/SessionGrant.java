package io.railhead.client;

import io.railhead.os.adapter.QueuePairConfig;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * The gateway's response to {@code POST /.railhead/sessions}: the session and the address for its
 * proof.
 *
 * @param maxWindowBytes the most bytes of a token's window
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

    /** Returns the UNIX socket of a fabric on this host. */
    Path socket() throws IOException {
        return Path.of(require(fields, "socket").getFirst());
    }

    /** Returns the addresses of the gateway's adapters, at least one. */
    List<String> addresses() throws IOException {
        return require(fields, "addresses");
    }

    int port() throws IOException {
        return (int) number(fields, "port");
    }

    /**
     * Returns the largest payload of the gateway's packets; the largest possible if it does not
     * tell.
     */
    int maxPathMtu() throws IOException {
        return fields.containsKey("path_mtu")
                ? (int) number(fields, "path_mtu")
                : QueuePairConfig.LONGEST_PATH_MTU;
    }

    /** Returns the most outstanding requests. */
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
