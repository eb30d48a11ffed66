package io.railhead.gateway.relay;

import io.railhead.backend.Headers;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.protocol.token.Dialects;
import io.vertx.core.http.HttpServerResponse;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Set;

/** The headers that pass through the gateway, in each direction; all others concern one hop. */
public final class ForwardedHeaders {
    private static final Set<String> NOT_TO_BACKEND = Set.of("authorization", "x-amz-date",
            "x-amz-content-sha256",
            "x-amz-security-token", "host", "content-length", "transfer-encoding",
            "connection", "keep-alive",
            "proxy-authorization", "proxy-connection", "te", "trailer", "upgrade", "date",
            "x-amz-decoded-content-length", "x-amz-trailer", "accept-encoding",
            "amz-sdk-invocation-id",
            "amz-sdk-request");
    private static final Set<String> OF_ONE_HOP = Set.of("host", "content-length",
            "transfer-encoding", "connection", "keep-alive", "proxy-authorization",
            "proxy-connection", "te", "trailer", "upgrade");
    private static final Set<String> NOT_TO_CLIENT = Set.of("connection", "keep-alive",
            "transfer-encoding", "server",
            "proxy-connection", "x-railhead-request-id", "te", "trailer", "upgrade", "date");

    private ForwardedHeaders() {}

    public static Headers toBackend(Headers received) {
        Headers.Builder forwarded = Headers.builder();
        received.forEach((name, value) -> {
            String lower = name.toLowerCase(Locale.ROOT);
            if (NOT_TO_BACKEND.contains(lower) || isOurs(lower)) {
                return;
            }
            requireText(lower, value);
            if (lower.equals("content-encoding")) {
                addContentEncoding(forwarded, value);
            } else {
                forwarded.add(name, value);
            }
        });
        return forwarded.build();
    }

    /** Refuses a value that is not UTF-8: it has no single form that a signature could cover. */
    private static void requireText(String name, String value) {
        if (value.chars().allMatch(c -> c < 0x80)) {
            return;
        }
        try {
            StandardCharsets.UTF_8.newDecoder()
                    .decode(ByteBuffer.wrap(value.getBytes(StandardCharsets.ISO_8859_1)));
        } catch (CharacterCodingException e) {
            throw new S3Refusal(S3Error.INVALID_REQUEST,
                    "The value of the header " + name + " must be UTF-8.");
        }
    }

    /**
     * Returns all headers except those of one hop: the client's signature may cover any of them.
     */
    public static Headers untouched(Headers received) {
        Headers.Builder forwarded = Headers.builder();
        received.forEach((name, value) -> {
            if (!OF_ONE_HOP.contains(name.toLowerCase(Locale.ROOT))) {
                forwarded.add(name, value);
            }
        });
        return forwarded.build();
    }

    private static boolean isOurs(String lower) {
        return Dialects.isHeader(lower) || lower.startsWith("x-railhead-");
    }

    /**
     * Removes aws-chunked from the encodings: it frames this hop only. Other encodings stay
     * unchanged.
     */
    private static void addContentEncoding(Headers.Builder forwarded, String value) {
        if (!value.toLowerCase(Locale.ROOT).contains("aws-chunked")) {
            forwarded.add("Content-Encoding", value);
            return;
        }
        StringBuilder kept = new StringBuilder();
        for (String coding : value.split(",", -1)) {
            if (!coding.strip().equalsIgnoreCase("aws-chunked") && !coding.isBlank()) {
                kept.append(kept.isEmpty() ? "" : ",").append(coding.strip());
            }
        }
        if (!kept.isEmpty()) {
            forwarded.add("Content-Encoding", kept.toString());
        }
    }

    /**
     * Copies headers to the client. The request id is the backend's, as in its error documents; the
     * gateway's id has a header of its own.
     */
    public static void toClient(Headers answer, HttpServerResponse response) {
        answer.forEach((name, value) -> {
            String lower = name.toLowerCase(Locale.ROOT);
            if (lower.equals("x-amz-request-id")) {
                response.putHeader(name, value);
            } else if (!NOT_TO_CLIENT.contains(lower)) {
                response.headers().add(name, value);
            }
        });
    }
}
