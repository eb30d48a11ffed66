package io.railhead.gateway.sts;

import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.source.JWKSetCacheRefreshEvaluator;
import io.railhead.gateway.config.GatewayConfig.Issuer;
import java.io.IOException;

/** Reads an issuer's keys as the gateway does, for diagnosis. */
public final class IssuerTrial {
    private IssuerTrial() {}

    /**
     * Returns the number of public keys. Blocks.
     *
     * @throws IOException if they cannot be read; the message says why
     */
    public static long keys(Issuer issuer) throws IOException {
        try (IssuerKeys source = new IssuerKeys(issuer)) {
            return source.getJWKSet(JWKSetCacheRefreshEvaluator.noRefresh(),
                    System.currentTimeMillis(), null)
                    .getKeys()
                    .stream()
                    .filter(IssuerTrial::isPublicHalf)
                    .count();
        } catch (KeySourceException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    /** A shared secret verifies nothing here. */
    private static boolean isPublicHalf(JWK key) {
        return key.toPublicJWK() != null;
    }
}
