package io.railhead.gateway.rdma.pairing;

import io.railhead.backend.Headers;
import io.railhead.protocol.token.Hex;
import io.railhead.rdma.pairing.RcDescriptor;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The headers of hipobj-rc-v2, each parsed once and strictly. */
final class HipobjHeaders {
    static final String PROTOCOL = "x-amz-rdma-protocol";
    static final String PROTOCOL_NAME = "hipobj-rc-v2";
    static final String SESSION = "x-amz-rdma-session";
    static final String COOKIE = "x-amz-rdma-cookie";
    static final String PSN = "x-amz-rdma-psn";
    static final String QPN = "x-amz-rdma-qpn";
    static final String MR_ADDRESS = "x-amz-rdma-mr-addr";
    static final String MR_KEY = "x-amz-rdma-mr-rkey";
    /** The length of a work request, which all adapters support up to 31 bits. */
    static final long MAX_BYTES = Integer.MAX_VALUE;
    private static final Pattern SUFFIX = Pattern.compile(":[0-9a-fA-F]{1,16}:[0-9a-fA-F]{1,16}");
    private static final Pattern SESSION_ID = Pattern.compile("[0-9a-fA-F]{32}");
    private static final int ADDRESS_DIGITS = 16;
    private static final int KEY_DIGITS = 8;

    private HipobjHeaders() {}

    /**
     * The headers of PREPARE, the first of the two requests.
     *
     * @param target path and query of an S3 request, percent-encoded
     * @param offset the first byte's offset in the object; 0 for a PUT
     */
    record Prepare(RcDescriptor descriptor, int psn, int cookie, boolean isPut, String target,
            long bytes, long offset) {

        Prepare {
            if (isPut && offset != 0) {
                throw new IllegalArgumentException("x-amz-rdma-offset of a PUT must be 0");
            }
            if (!isPut && offset > Long.MAX_VALUE - bytes) {
                throw new IllegalArgumentException("x-amz-rdma-offset is too large");
            }
        }

        /** Returns the equivalent Range header. */
        String range() {
            return "bytes=" + offset + "-" + (offset + bytes - 1);
        }
    }

    /**
     * The headers of READY, the second request.
     *
     * @param address the client's memory address, which {@code key} grants access to
     */
    record Ready(String session, int cookie, int queuePair, long address, int key) {}

    /** Parses PREPARE's headers. Throws {@link IllegalArgumentException} that names the fault. */
    static Prepare prepare(Headers headers) {
        String token = require(headers, "x-amz-rdma-token");
        int suffix = token.indexOf(':');
        if (suffix >= 0 && !SUFFIX.matcher(token.substring(suffix)).matches()) {
            throw new IllegalArgumentException("x-amz-rdma-token may end in :<address>:<size>");
        }
        String operation = require(headers, "x-amz-rdma-op");
        if (!operation.equals("GET") && !operation.equals("PUT")) {
            throw new IllegalArgumentException("x-amz-rdma-op must be GET or PUT");
        }
        String offset = headers.get("x-amz-rdma-offset");
        return new Prepare(RcDescriptor.parse(suffix < 0 ? token : token.substring(0, suffix)),
                Hex.psn(require(headers, PSN)), Hex.cookie(require(headers, COOKIE)),
                operation.equals("PUT"), require(headers, "x-amz-rdma-target"),
                bytes(require(headers, "x-amz-rdma-size")),
                offset == null ? 0 : decimal("x-amz-rdma-offset", offset.strip()));
    }

    private static long bytes(String text) {
        long bytes = decimal("x-amz-rdma-size", text);
        if (bytes < 1 || bytes > MAX_BYTES) {
            throw new IllegalArgumentException("x-amz-rdma-size must be 1 to " + MAX_BYTES);
        }
        return bytes;
    }

    private static long decimal(String name, String text) {
        if (!text.matches("[0-9]{1,18}")) {
            throw new IllegalArgumentException(name + " must be a decimal number");
        }
        return Long.parseLong(text);
    }

    /** Parses READY's headers. Throws {@link IllegalArgumentException} that names the fault. */
    static Ready ready(Headers headers) {
        return new Ready(session(headers), Hex.cookie(require(headers, COOKIE)),
                (int) Hex.upTo(ADDRESS_DIGITS, require(headers, QPN)),
                Hex.upTo(ADDRESS_DIGITS, require(headers, MR_ADDRESS)),
                (int) Hex.upTo(KEY_DIGITS, require(headers, MR_KEY)));
    }

    /** Parses the session id. Throws {@link IllegalArgumentException} that names the fault. */
    static String session(Headers headers) {
        String session = require(headers, SESSION);
        if (!SESSION_ID.matcher(session).matches()) {
            throw new IllegalArgumentException(SESSION + " must have 32 hex digits");
        }
        return session.toLowerCase(Locale.ROOT);
    }

    static boolean isSpoken(Headers headers) {
        String protocol = headers.get(PROTOCOL);
        return protocol != null && protocol.strip().equals(PROTOCOL_NAME);
    }

    private static String require(Headers headers, String name) {
        @Nullable
        String value = headers.get(name);
        if (value == null) {
            throw new IllegalArgumentException(name + " is missing");
        }
        return value.strip();
    }
}
