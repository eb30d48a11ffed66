package io.railhead.gateway.s3.sigv4;

import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import java.time.Instant;

/** Verifies nothing and holds no secret: the store authenticates each request. */
public final class PassThrough implements RequestAuthenticator {

    @Override
    public Authentication authenticate(RequestHead head, Query query, Instant now) {
        String host = head.headers().get("host");
        if (host == null) {
            throw new S3Refusal(S3Error.INVALID_REQUEST, "Missing required header: Host");
        }
        return new Authentication.PassedThrough(host);
    }
}
