package io.railhead.gateway.s3.sigv4;

import io.railhead.gateway.identity.AccessKey;
import io.railhead.gateway.identity.Principal;
import io.railhead.gateway.identity.Secret;
import java.time.Instant;
import java.util.List;
import java.util.Set;

/** A verified signature for tests that have no request. */
public final class TestSignature {

    private TestSignature() {}

    public static Authentication.Signed of(String principal, String signature, Instant signedAt) {
        AccessKey key = new AccessKey("AK", new Secret("SK"), null);
        SignatureScope scope = new SignatureScope("20261125", "us-east-1", "s3");
        return new Authentication.Signed(
                new Principal(principal, "default", List.of(key), null, Set.of(), true, true,
                        false),
                key, scope, signature, List.of("host"), false, signedAt,
                new PayloadSigning.Unsigned(), scope.keyOf(key.secret()));
    }
}
