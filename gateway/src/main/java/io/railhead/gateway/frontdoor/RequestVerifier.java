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
import io.railhead.gateway.s3.sigv4.Authenticator;
import io.railhead.gateway.s3.sigv4.RequestAuthenticator;
import io.railhead.gateway.s3.sigv4.RequestHead;
import io.railhead.gateway.s3.sigv4.SignatureMemory;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads the head of a request, verifies its signature, and finds its store by the rules. An invalid
 * request throws {@link S3Refusal}. Immutable; any thread.
 */
public final class RequestVerifier {
    private static final Set<String> METHODS = Set.of("GET", "HEAD", "PUT", "POST", "DELETE",
            "PATCH", "OPTIONS");

    private final RequestAuthenticator authenticator;
    private final OwnPaths paths;
    private final Routes routes;
    private final List<String> domains;
    private final InstantSource clock;

    /**
     * A verifier by the current rules.
     *
     * @param paths requests for the gateway itself, which are not verified as a store's
     * @param domains host names of buckets end with one of these
     * @param clock the clock that dates of signatures are compared with
     */
    public RequestVerifier(RequestAuthenticator authenticator, OwnPaths paths, Routes routes,
            List<String> domains, InstantSource clock) {
        this.authenticator = authenticator;
        this.paths = paths;
        this.routes = routes;
        this.domains = List.copyOf(domains);
        this.clock = clock;
    }

    /**
     * Verifies a request that goes to a store; null for all others.
     *
     * @param peer the sender, by address alone
     * @param memory the connection's
     */
    @Nullable
    S3Request verify(String method, String uri, Iterable<Map.Entry<String, String>> fields,
            RequestSource peer, SignatureMemory memory) {
        RequestHead head = head(method, uri, fields, peer.secure());
        Address address = address(head);
        return paths.isOwn(head, address)
                ? null
                : verified(head, address, Query.require(head.rawQuery()), peer, memory);
    }

    /** Verifies the signature and finds the store; returns the whole request. */
    S3Request verified(RequestHead head, Address address, Query query, RequestSource peer,
            SignatureMemory memory) {
        Authentication authentication = authenticate(head, query, memory);
        return new S3Request(head, address, query, authentication,
                peer.as(authentication), routes.route(authentication, address));
    }

    /** @param secure whether the request came over TLS */
    RequestHead head(String method, String uri,
            Iterable<Map.Entry<String, String>> fields, boolean secure) {
        if (!METHODS.contains(method)) {
            throw new S3Refusal(S3Error.METHOD_NOT_ALLOWED);
        }
        RequestTarget target = target(uri, secure);
        String path = target.pathAndQuery();
        int mark = path.indexOf('?');
        RequestHead head = new RequestHead(method, mark < 0 ? path : path.substring(0, mark),
                mark < 0 ? null : path.substring(mark + 1), Headers.copyOf(fields));
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
     * Uses the target's authority in place of the Host field (RFC 9112 §3.2.2). A client may have
     * signed the Host field, which counts only if both name the same bucket.
     */
    private RequestHead withHost(RequestHead head, String authority) {
        String field = head.headers().get("host");
        boolean other = field != null && !field.equals(authority)
                && Objects.equals(Address.bucketOf(field, domains),
                        Address.bucketOf(authority, domains));
        return new RequestHead(head.method(), head.rawPath(), head.rawQuery(),
                head.headers().toBuilder().set("host", authority).build(), other ? field : null);
    }

    /** @throws S3Refusal if the bucket's name is invalid or the path cannot be decoded */
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

    /** Returns the signer of the request; anonymous if it is not signed. */
    Authentication authenticate(RequestHead head, Query query, SignatureMemory memory) {
        return head.method().equals("OPTIONS")
                ? preflight(head, query)
                : authenticator.authenticate(head, query, clock.instant(), memory);
    }

    /**
     * Authenticates a browser's preflight request. Its URL is that of the request to come, which
     * may be presigned. If the signature holds, the preflight is routed as the signer's, since only
     * the signer's view may name the bucket. A signature that covers headers cannot hold here: such
     * a preflight is anonymous.
     */
    private Authentication preflight(RequestHead head, Query query) {
        String about = head.headers().get("access-control-request-method");
        if (query.isPresigned() && authenticator instanceof Authenticator) {
            requirePreflight(head, about);
        }
        if (about == null || head.headers().contains("authorization")) {
            return new Authentication.Anonymous();
        }
        try {
            return authenticator.authenticate(head.withMethod(about), query, clock.instant());
        } catch (S3Refusal e) {
            return new Authentication.Anonymous();
        }
    }

    /**
     * Refuses a request for a presigned URL that no browser sends, in AWS's words. Without the
     * method nobody can tell its signer, and a store would answer of another tenant's bucket.
     */
    private static void requirePreflight(RequestHead head, @Nullable String about) {
        if (!head.headers().contains("origin")) {
            throw new S3Refusal(S3Error.BAD_REQUEST,
                    "Insufficient information. Origin request header needed.");
        }
        if (about == null) {
            throw new S3Refusal(S3Error.BAD_REQUEST,
                    "Invalid Access-Control-Request-Method: null");
        }
    }

    /** Returns the signer, whatever the method is. */
    Authentication requireSignature(RequestHead head, Query query) {
        return authenticator.authenticate(head, query, clock.instant());
    }
}
