package io.railhead.client;

import io.railhead.os.adapter.QueuePairConfig;
import io.railhead.protocol.channel.RequestOperation;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * The gateway's response to {@code POST /.railhead/sessions}: the session and the address for its
 * proof.
 *
 * @param maxWindowBytes the most bytes of a token's window
 * @param highestOperation the highest code of a request that the gateway knows
 * @param maxWindows the most windows of one request
 */
record SessionGrant(String id, long maxWindowBytes, int highestOperation, int maxWindows,
        Map<String, List<String>> fields) {

    static SessionGrant parse(String json) throws IOException {
        Map<String, List<String>> fields = FlatJson.parse(json);
        long maxWindow = number(fields, "max_window");
        if (maxWindow < 1) {
            throw new PermanentException("the gateway's max_window is too small: " + maxWindow);
        }
        return new SessionGrant(require(fields, "session").getFirst(), maxWindow,
                (int) optional(fields, "max_operation", RequestOperation.UPLOAD_PART.code()),
                (int) optional(fields, "max_windows", 1), fields);
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
        return (int) optional(fields, "path_mtu", QueuePairConfig.LONGEST_PATH_MTU);
    }

    /** Returns the most outstanding requests. */
    int maxRequests() throws IOException {
        return (int) number(fields, "max_requests");
    }

    /** Returns a field that older gateways do not send, or else what they do. */
    private static long optional(Map<String, List<String>> fields, String name, long otherwise)
            throws IOException {
        return fields.containsKey(name) ? number(fields, name) : otherwise;
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
