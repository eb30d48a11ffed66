package io.railhead.gateway.frontdoor;

import io.railhead.backend.Headers;
import io.railhead.gateway.request.Address;
import io.railhead.gateway.request.RequestSource;
import io.railhead.gateway.request.RequestTarget;
import io.railhead.gateway.request.Routes;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.railhead.gateway.s3.sigv4.RequestAuthenticator;
import io.railhead.gateway.s3.sigv4.RequestHead;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Reads the head of a request, verifies its signature, and finds its store by the rules. Immutable;
 * any thread. A {@link S3Refusal} says what is wrong with the request.
 */
public final class RequestVerifier {
    private static final Set<String> METHODS = Set.of("GET", "HEAD", "PUT", "POST", "DELETE",
            "PATCH", "OPTIONS");

    private final RequestAuthenticator authenticator;
    private final Routes routes;
    private final List<String> domains;
    private final InstantSource clock;

    /**
     * @param domains below which a host names a bucket
     * @param clock that signatures are dated by
     */
    public RequestVerifier(RequestAuthenticator authenticator, Routes routes,
            List<String> domains, InstantSource clock) {
        this.authenticator = authenticator;
        this.routes = routes;
        this.domains = List.copyOf(domains);
        this.clock = clock;
    }

    /** The request, its signature verified, with the store that the rules name. */
    S3Request verified(RequestHead head, Address address, Query query, RequestSource peer) {
        Authentication authentication = authenticate(head, query);
        return new S3Request(head, address, query, authentication,
                peer.as(authentication), routes.route(authentication, address));
    }

    /** @param secure whether it came over TLS */
    RequestHead head(String method, String uri,
            Iterable<Map.Entry<String, String>> fields, boolean secure) {
        if (!METHODS.contains(method)) {
            throw new S3Refusal(S3Error.METHOD_NOT_ALLOWED);
        }
        RequestTarget target = target(uri, secure);
        String path = target.pathAndQuery();
        int mark = path.indexOf('?');
        Headers.Builder headers = Headers.builder();
        fields.forEach(field -> headers.add(field.getKey(), field.getValue()));
        RequestHead head = new RequestHead(method, mark < 0 ? path : path.substring(0, mark),
                mark < 0 ? null : path.substring(mark + 1), headers.build());
        return target.authority() == null ? head : withHost(head, target.authority());
    }

    private static RequestTarget target(String uri, boolean secure) {
        try {
            return RequestTarget.parse(uri, secure);
        } catch (IllegalArgumentException e) {
            throw new S3Refusal(S3Error.INVALID_URI, "Couldn't parse the specified URI.");
        }
    }

    /**
     * RFC 9112 §3.2.2: the target's authority stands for whatever the Host field says. A client may
     * have signed that field, which counts only where both name the same bucket.
     */
    private RequestHead withHost(RequestHead head, String authority) {
        String field = head.headers().get("host");
        boolean other = field != null && !field.equals(authority)
                && Objects.equals(Address.bucketOf(field, domains),
                        Address.bucketOf(authority, domains));
        return new RequestHead(head.method(), head.rawPath(), head.rawQuery(),
                head.headers().toBuilder().set("host", authority).build(), other ? field : null);
    }

    /** @throws S3Refusal where the bucket cannot be one, or the path cannot be read */
    Address address(RequestHead head) {
        try {
            Address address = Address.of(head.rawPath(), head.headers().get("host"), domains);
            String bucket = address.bucket();
            if (bucket != null && !Address.isBucketName(bucket)) {
                throw new S3Refusal(S3Error.INVALID_BUCKET_NAME);
            }
            return address;
        } catch (IllegalArgumentException e) {
            throw new S3Refusal(S3Error.INVALID_URI, "Couldn't parse the specified URI.");
        }
    }

    /** Who signed the request; nobody where it is not signed. */
    Authentication authenticate(RequestHead head, Query query) {
        return head.method().equals("OPTIONS")
                ? preflight(head, query)
                : requireSignature(head, query);
    }

    /**
     * A browser's preflight goes to the URL of the request that it is about, which may be
     * presigned: then it is its signer's, whose buckets the store may find by that alone. It says
     * nothing else of who asks: where the signature does not hold, as it cannot where it covers
     * headers, it is nobody's.
     */
    private Authentication preflight(RequestHead head, Query query) {
        String about = head.headers().get("access-control-request-method");
        if (about == null || head.headers().contains("authorization")) {
            return new Authentication.Anonymous();
        }
        try {
            return authenticator.authenticate(head.withMethod(about), query, clock.instant());
        } catch (S3Refusal e) {
            return new Authentication.Anonymous();
        }
    }

    /** The signer; whatever the method is. */
    Authentication requireSignature(RequestHead head, Query query) {
        return authenticator.authenticate(head, query, clock.instant());
    }
}
