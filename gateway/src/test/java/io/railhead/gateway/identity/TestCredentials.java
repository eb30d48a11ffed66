package io.railhead.gateway.identity;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.railhead.gateway.config.ConfigException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The key pair of AWS's published examples, and one with a session token. */
public final class TestCredentials {
    public static final String ACCESS_KEY = "AKIAIOSFODNN7EXAMPLE";
    public static final String SECRET_KEY = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
    public static final String TEMPORARY_KEY = "ASIATEMPORARY";
    public static final String TOKEN = "token/with+odd=characters";

    private static final String YAML = """
            principals:
              - name: alice
                keys:
                  - {access_key: %s, secret_key: "%s"}
                  - {access_key: %s, secret_key: "%s", session_token: "%s"}
            """.formatted(ACCESS_KEY, SECRET_KEY, TEMPORARY_KEY, SECRET_KEY, TOKEN);

    private TestCredentials() {}

    public static CredentialStore store() {
        try {
            Path file = Files.createTempFile("credentials", ".yaml");
            try {
                Files.write(file, YAML.getBytes(UTF_8));
                return CredentialStore.load(file);
            } finally {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (ConfigException e) {
            throw new IllegalStateException(e);
        }
    }
}
