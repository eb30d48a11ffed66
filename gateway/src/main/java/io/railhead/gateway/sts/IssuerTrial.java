package io.railhead.gateway.sts;

import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.source.JWKSetCacheRefreshEvaluator;
import io.railhead.gateway.config.GatewayConfig.Issuer;
import io.railhead.gateway.config.GatewayConfig.WebIdentity;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

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

    /** Returns a line for each file of keys that verifies no token. Blocks. */
    public static List<String> warnings(@Nullable WebIdentity webIdentity) {
        List<String> warnings = new ArrayList<>();
        if (webIdentity == null) {
            return warnings;
        }
        for (Issuer issuer : webIdentity.issuers().values()) {
            String fault = issuer.jwksFile() == null ? "" : fault(issuer);
            if (!fault.isEmpty()) {
                warnings.add("gateway.web_identity.issuers[].jwks_file: " + issuer.jwksFile()
                        + ": " + fault + ", so no token of " + issuer.issuer()
                        + " is exchanged");
            }
        }
        return warnings;
    }

    private static String fault(Issuer issuer) {
        try {
            return keys(issuer) == 0 ? "has no public key" : "";
        } catch (IOException e) {
            return String.valueOf(e.getMessage()).replaceAll("\\s+", " ");
        }
    }

    /** A shared secret verifies nothing here. */
    private static boolean isPublicHalf(JWK key) {
        return key.toPublicJWK() != null;
    }
}
