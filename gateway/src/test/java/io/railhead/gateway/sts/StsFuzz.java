package io.railhead.gateway.sts;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.railhead.gateway.config.ConfigException;
import io.railhead.gateway.config.ConfigLoader;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.identity.CredentialStore;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.S3Refusal;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Objects;

/**
 * Forms to the Security Token Service. The corpus has a token that is valid until 2099. Nobody can
 * sign another: credentials are given for its very claims, and for the one role that these satisfy.
 */
public final class StsFuzz {
    /** The key that signed the corpus; its private half is gone. */
    static final String KEYS = """
            {
             "keys": [
              {
               "kty": "EC",
               "crv": "P-256",
               "kid": "first",
               "x": "wK36-KrGGuCr2BB2-kpxWGqlskfR9CXG4HzAOfKoOzQ",
               "y": "iHFSliNpQMFUyb9dARLSRRXNLfDIZqJ6SplfNqquNcw"
              }
             ]
            }""";
    private static final RoleExchange EXCHANGE = exchange();

    private StsFuzz() {}

    private static RoleExchange exchange() {
        try {
            Path folder = Files.createTempDirectory("sts-fuzz");
            Files.writeString(folder.resolve("keys.json"), KEYS);
            Files.writeString(folder.resolve("credentials.yaml"), """
                    roles:
                      - name: pods
                        issuer: https://issuer
                        claims: {sub: "system:serviceaccount:ml:*"}
                        principal: "${kubernetes.io/namespace}"
                        backend_credential: {access_key: A, secret_key: S}
                      - name: admins
                        issuer: https://issuer
                        claims: {sub: "system:serviceaccount:ops:*"}
                        backend_credential: {access_key: A, secret_key: S}
                    """);
            GatewayConfig.Gateway gateway = ConfigLoader.load(
                    Files.writeString(folder.resolve("railhead.yaml"), """
                            gateway:
                              credentials: credentials.yaml
                              web_identity: {issuers: [{issuer: "https://issuer",
                                audiences: [railhead], jwks_file: keys.json}]}
                            backends: {a: {endpoints: ["http://s3"]}}
                            """)).gateway();
            return new RoleExchange(CredentialStore.open(gateway),
                    Objects.requireNonNull(gateway.webIdentity()), InstantSource.system());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (ConfigException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void fuzzerTestOneInput(byte[] input) {
        RoleExchange.Exchanged given;
        try {
            given = EXCHANGE.exchange(Query.require(new String(input, ISO_8859_1)));
        } catch (StsRefusal | S3Refusal e) {
            return;
        }
        boolean kept = given.session().role().equals("pods")
                && given.principal().name().equals("pods/ml")
                && given.session().subject().equals("system:serviceaccount:ml:train");
        if (!kept) {
            throw new AssertionError(given.session().toString());
        }
    }
}
