package io.railhead.gateway.rdma.pairing;

import io.railhead.backend.Headers;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.request.Address;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.railhead.gateway.s3.sigv4.RequestHead;
import io.railhead.protocol.token.TokenOperation;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The S3 request that hipobj headers describe: a ranged GET, a PUT or an UploadPart of an object.
 * No other request is served by RDMA.
 */
record HipobjTarget(HipobjHeaders.Prepare asked, Address address, Query query, String path) {
    private static final Set<String> OF_GET = Set.of("versionId");
    private static final Set<String> OF_PART = Set.of("uploadId", "partNumber");
    /** Bucket names that no store could read as another path. */
    private static final Pattern BUCKET = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,254}");

    /** Parses the target. Throws {@link IllegalArgumentException} if it is no such request. */
    static HipobjTarget of(HipobjHeaders.Prepare asked) {
        String target = asked.target();
        if (!target.startsWith("/")) {
            throw new IllegalArgumentException("x-amz-rdma-target must begin with a slash");
        }
        int mark = target.indexOf('?');
        String path = mark < 0 ? target : target.substring(0, mark);
        Address address = Address.of(path, null, List.of());
        String bucket = address.bucket();
        if (bucket == null || !BUCKET.matcher(bucket).matches() || address.rawKey().isEmpty()) {
            throw new IllegalArgumentException("x-amz-rdma-target must name an object");
        }
        Query query = Query.parse(mark < 0 ? null : target.substring(mark + 1));
        boolean isPart = OF_PART.stream().allMatch(query::hasValue);
        boolean isKnown = asked.isPut()
                ? query.allNames(name -> isPart && OF_PART.contains(name))
                : query.allNames(OF_GET::contains);
        if (!isKnown) {
            throw new IllegalArgumentException("x-amz-rdma-target has a query that is not served");
        }
        return new HipobjTarget(asked, address, query, path);
    }

    TokenOperation kind() {
        if (!asked.isPut()) {
            return TokenOperation.GET;
        }
        return query.has("uploadId") ? TokenOperation.PART : TokenOperation.PUT;
    }

    S3Request request(HipobjSite site, HttpExchange httpExchange, Authentication.Signed caller) {
        Authentication known = new Authentication.Proven(caller.principal(), caller.key());
        Headers headers = asked.isPut()
                ? Headers.NONE
                : Headers.builder().add("range", asked.range()).build();
        RequestHead head = new RequestHead(asked.isPut() ? "PUT" : "GET", path,
                query.rawWithoutSigning(), headers);
        return new S3Request(head, address, query, known, httpExchange.asker(caller),
                site.routes().route(known, address));
    }
}
