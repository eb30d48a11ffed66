package io.railhead.gateway.identity;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.railhead.gateway.config.ConfigException;
import java.nio.file.Path;

/**
 * An access key and, in the next line, a session token. Nobody can seal one without the key: what
 * opens is the corpus's own session.
 */
public final class CredentialSealFuzz {
    static final String KEY = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    private static final CredentialSeal SEAL = seal();

    private CredentialSealFuzz() {}

    static CredentialSeal seal() {
        try {
            return CredentialSeal.parse(Path.of("keys"), KEY.getBytes(UTF_8));
        } catch (ConfigException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void fuzzerTestOneInput(byte[] input) {
        String text = new String(input, ISO_8859_1);
        int end = text.indexOf('\n');
        AccessKey opened = SEAL.open(text.substring(0, Math.max(end, 0)),
                text.substring(end + 1));
        if (opened == null) {
            return;
        }
        RoleSession session = opened.session();
        if (session == null || !session.role().equals("pods")
                || !"system:serviceaccount:ml:train".equals(session.claims().get("sub"))) {
            throw new AssertionError(String.valueOf(session));
        }
    }
}
