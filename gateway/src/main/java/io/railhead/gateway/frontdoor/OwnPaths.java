package io.railhead.gateway.frontdoor;

import io.railhead.gateway.request.Address;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.sigv4.RequestHead;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The gateway's paths beside S3's.
 *
 * @param signed by the name behind {@link InternalEndpoint#PREFIX}
 * @param unsigned by the same name, for callers that cannot sign
 * @param dialects by their raw paths
 * @param sts calls of the Security Token Service; null if they are not served
 */
public record OwnPaths(Map<String, InternalEndpoint> signed, Map<String, UnsignedEndpoint> unsigned,
        Map<String, DialectPath> dialects, @Nullable UnsignedEndpoint sts) {

    public OwnPaths {
        signed = Map.copyOf(signed);
        unsigned = Map.copyOf(unsigned);
        dialects = Map.copyOf(dialects);
    }

    /** Returns the handler of a call of the Security Token Service; null if this is none. */
    @Nullable
    UnsignedEndpoint stsOf(RequestHead head, Address address) {
        return sts != null && address.bucket() == null && head.rawPath().equals("/")
                && (isForm(head) || namesCall(head))
                        ? sts
                        : null;
    }

    /** S3 has no form outside buckets. */
    private static boolean isForm(RequestHead head) {
        String type = head.headers().get("content-type");
        return head.method().equals("POST") && type != null
                && type.toLowerCase(Locale.ROOT).startsWith("application/x-www-form-urlencoded");
    }

    /** A call in the address is the service's to refuse: no store may see the token in it. */
    private static boolean namesCall(RequestHead head) {
        Query query = Query.require(head.rawQuery());
        return query.has("Action") || query.has("WebIdentityToken");
    }

    /** Returns whether a request is one of these paths', and so for no store. */
    boolean isOwn(RequestHead head, Address address) {
        return isInternal(head, address) || dialect(head, address) != null
                || stsOf(head, address) != null;
    }

    /**
     * Returns whether a path is below the prefix. Behind a bucket's host name every path is a key.
     */
    boolean isInternal(RequestHead head, Address address) {
        return head.rawPath().startsWith(InternalEndpoint.PREFIX)
                && InternalEndpoint.PREFIX.equals("/" + address.bucket() + "/");
    }

    /** Returns the signed endpoint of this name; refuses the request if there is none. */
    InternalEndpoint requireSigned(String name) {
        InternalEndpoint endpoint = signed.get(name);
        if (endpoint == null) {
            throw new S3Refusal(S3Error.METHOD_NOT_ALLOWED,
                    "There is nothing at " + InternalEndpoint.PREFIX + name + ".");
        }
        return endpoint;
    }

    /**
     * Returns the dialect's handler of a path; null if there is none, or if the host names the
     * bucket and the path is a key.
     */
    @Nullable
    DialectPath dialect(RequestHead head, Address address) {
        DialectPath dialect = dialects.get(head.rawPath());
        return dialect != null && head.rawPath().startsWith("/" + address.bucket() + "/")
                ? dialect
                : null;
    }
}
