package io.railhead.backend.aws;

import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValidationUtil;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.railhead.backend.BackendConfig;
import io.railhead.backend.BackendRequest;
import io.railhead.backend.Caller;
import io.railhead.backend.FixedBody;
import io.railhead.backend.Headers;
import io.railhead.backend.Payload;
import io.railhead.backend.Target;
import java.net.URI;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpRequest;

/** Encodes a {@link BackendRequest} for one endpoint: address, framing, signature. */
final class RequestEncoder {
    /** Headers that the gateway sets, whatever the request has. */
    private static final Set<String> OURS = Set.of("host", "content-length", "transfer-encoding",
            "connection", "expect", "authorization", "x-amz-date", "x-amz-content-sha256",
            "x-amz-security-token", "x-amz-trailer", "x-amz-decoded-content-length");
    /** Headers of one hop, which are set for every signer. */
    private static final Set<String> FRAMING = Set.of("host", "content-length",
            "transfer-encoding", "connection", "expect");
    private static final String UNSIGNED_TRAILER = "STREAMING-UNSIGNED-PAYLOAD-TRAILER";
    private static final String NO_BYTES_SHA256 = sha256(ByteBuffer.allocate(0));
    /**
     * The size from which an early refusal is worth waiting for; so is every body of unknown
     * length.
     */
    private static final long EXPECT_BYTES = 1024 * 1024;

    private final BackendConfig config;
    private final Signer signer;
    private final Counters counters;

    RequestEncoder(BackendConfig config, Signer signer, Counters counters) {
        this.config = config;
        this.signer = signer;
        this.counters = counters;
    }

    /**
     * @param body null for none
     * @param stream the streamed body, whose progress is watched; null for a fixed body
     */
    record Message(HttpRequest request, @Nullable Publisher<ByteBuffer> body,
            @Nullable StreamBody stream) {

        /** Returns whether the body is sent only after the store has asked for it. */
        boolean waitsToBeAskedFor() {
            return request.headers().contains(HttpHeaderNames.EXPECT);
        }
    }

    /**
     * @param trailers whether this store accepts aws-chunked trailers
     * @throws IllegalArgumentException if the request is not valid in HTTP
     */
    Message write(BackendRequest request, URI endpoint, TrailerUse trailers) {
        SdkHttpRequest.Builder out = SdkHttpRequest.builder().method(method(request.method()));
        address(out, request.target(), endpoint, request.caller());
        copyHeaders(out, request.headers(),
                request.caller() instanceof Caller.ClientSigned ? FRAMING : OURS);
        return switch (request.payload()) {
            case Payload.Empty() -> {
                if (request.method().equals("PUT") || request.method().equals("POST")) {
                    out.putHeader("Content-Length", "0");
                }
                yield message(sign(out, NO_BYTES_SHA256, request.caller()), null, null);
            }
            case Payload.Bytes(ByteBuffer content) -> {
                out.putHeader("Content-Length", Long.toString(content.remaining()));
                yield message(sign(out, sha256(content.duplicate()), request.caller()),
                        new FixedBody(content.duplicate()), null);
            }
            case Payload.Stream stream -> stream(out, stream, request, trailers);
        };
    }

    private static Message message(SdkHttpRequest signed, @Nullable Publisher<ByteBuffer> body,
            @Nullable StreamBody stream) {
        String path = signed.encodedPath().isEmpty() ? "/" : signed.encodedPath();
        HttpRequest request = new DefaultHttpRequest(HttpVersion.HTTP_1_1,
                HttpMethod.valueOf(signed.method().name()),
                signed.encodedQueryParameters().map(query -> path + '?' + query).orElse(path));
        signed.forEachHeader((name, values) -> request.headers().add(name, values));
        return new Message(request, body, stream);
    }

    /** The use of trailers for a store. */
    enum TrailerUse {
        SEND,
        DROP
    }

    private Message stream(SdkHttpRequest.Builder out, Payload.Stream stream,
            BackendRequest request, TrailerUse use) {
        boolean chunked = use == TrailerUse.SEND && !stream.trailers().isEmpty()
                && ChecksumTrailers.areAllKnown(stream.trailers());
        String hash = chunked ? UNSIGNED_TRAILER : stream.contentSha256();
        BodyFraming bodyFraming = chunked
                ? new BodyFraming.AwsChunked(stream.lengthBytes(), stream.trailers())
                : new BodyFraming.Plain(stream.lengthBytes());
        if (chunked) {
            announceTrailers(out, stream);
        } else if (!stream.trailers().isEmpty()) {
            out.removeHeader("x-amz-sdk-checksum-algorithm");
        }
        if (stream.hasLength()) {
            out.putHeader("Content-Length", Long.toString(bodyFraming.encodedBytes()));
        } else {
            out.putHeader("Transfer-Encoding", "chunked");
        }
        if (asksFirst(request, stream)) {
            out.putHeader("Expect", "100-continue");
        }
        StreamBody body = new StreamBody(stream, bodyFraming, counters);
        return message(sign(out, hash, request.caller()), body, body);
    }

    /**
     * Returns whether to send Expect. Only uploads do: some stores do not answer it for a form or a
     * document.
     */
    private static boolean asksFirst(BackendRequest request, Payload.Stream stream) {
        boolean asked = "100-continue".equalsIgnoreCase(request.headers().get("expect"));
        return request.method().equals("PUT") && !request.target().rawKey().isEmpty()
                && request.hasBody()
                && (asked || !stream.hasLength() || stream.lengthBytes() >= EXPECT_BYTES);
    }

    private static void announceTrailers(SdkHttpRequest.Builder out, Payload.Stream stream) {
        out.putHeader("x-amz-trailer", String.join(",", stream.trailers().keySet()));
        out.putHeader("x-amz-decoded-content-length", Long.toString(stream.lengthBytes()));
        String encoding = out.firstMatchingHeader("Content-Encoding").orElse("");
        out.putHeader("Content-Encoding",
                encoding.isEmpty() ? "aws-chunked" : "aws-chunked," + encoding);
    }

    private SdkHttpRequest sign(SdkHttpRequest.Builder out, String hash, Caller caller) {
        return switch (caller) {
            case Caller.Anonymous() -> {
                if (hash.equals(UNSIGNED_TRAILER)) {
                    out.putHeader("x-amz-content-sha256", hash);
                }
                yield out.build();
            }
            case Caller.ClientSigned _ -> out.build();
            case Caller.DefaultChain _,Caller.AssumedRole _ ->
                throw new IllegalStateException(
                        "the provider is asked before a request is written");
            case Caller.Credential credential -> signed(out.build(), hash, credential);
        };
    }

    /**
     * Signs the request. A preflight is signed with the method of the request to come, which is
     * what Ceph RGW verifies; other stores verify none.
     */
    private SdkHttpRequest signed(SdkHttpRequest request, String hash,
            Caller.Credential credential) {
        SdkHttpMethod about = request.method() == SdkHttpMethod.OPTIONS
                ? request.firstMatchingHeader("Access-Control-Request-Method")
                        .map(SdkHttpMethod::fromValue)
                        .orElse(SdkHttpMethod.OPTIONS)
                : request.method();
        return signer.sign(request.toBuilder().method(about).build(), hash, credential)
                .toBuilder()
                .method(request.method())
                .build();
    }

    /**
     * Sets the address. The connection goes to the configured endpoint even if the bucket is in the
     * host name. The store must know that name; the gateway need not resolve it.
     */
    private void address(SdkHttpRequest.Builder out, Target target, URI endpoint,
            Caller caller) {
        String bucket = target.bucket();
        boolean bucketInHost = bucket != null && !config.pathStyle();
        String path = bucket == null || bucketInHost
                ? "/" + target.rawKey()
                : target.rawKey().isEmpty() ? "/" + bucket : "/" + bucket + "/" + target.rawKey();
        String authority = endpoint.getPort() < 0
                ? endpoint.getHost()
                : endpoint.getHost() + ":" + endpoint.getPort();
        out.protocol(endpoint.getScheme()).host(endpoint.getHost()).port(endpoint.getPort());
        if (caller instanceof Caller.ClientSigned(String host)) {
            out.encodedPath(RawUri.unchangedPath(path));
            out.putHeader("Host", host);
        } else {
            out.encodedPath(RawUri.canonicalPath(path));
            out.putHeader("Host", bucketInHost ? bucket + "." + authority : authority);
        }
        for (Map.Entry<String, List<@Nullable String>> parameter : RawUri
                .parameters(target.rawQuery())
                .entrySet()) {
            append(out, parameter.getKey(), parameter.getValue());
        }
    }

    /**
     * Appends values. The SDK's interface is not annotated, but it distinguishes {@code ?acl} from
     * {@code ?acl=}.
     */
    @SuppressWarnings("NullAway")
    private static void append(SdkHttpRequest.Builder out, String name,
            List<@Nullable String> values) {
        values.forEach(value -> out.appendRawQueryParameter(name, value));
    }

    private static void copyHeaders(SdkHttpRequest.Builder out, Headers headers,
            Set<String> ours) {
        headers.forEach((name, value) -> {
            if (ours.contains(name.toLowerCase(Locale.ROOT))) {
                return;
            }
            // Refused here: otherwise it would fail on the connection, and look like the store's
            // fault.
            if (HttpHeaderValidationUtil.validateValidHeaderValue(value) >= 0) {
                throw new IllegalArgumentException("no value of a header: " + name);
            }
            out.appendHeader(name, value);
        });
    }

    private static SdkHttpMethod method(String name) {
        return SdkHttpMethod.valueOf(name);
    }

    private static String sha256(ByteBuffer content) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(content);
            return HexFormat.of().formatHex(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("SHA-256 is part of every Java", e);
        }
    }
}
