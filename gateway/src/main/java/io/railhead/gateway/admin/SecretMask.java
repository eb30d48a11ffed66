package io.railhead.gateway.admin;

import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * Masks secrets in texts that leave the gateway: every secret that the gateway knows, and whatever
 * has the form of one.
 */
public final class SecretMask {
    private static final String MASK = "****";
    /** Shorter values would mask ordinary words. */
    private static final int LEAST_CHARS = 6;
    private static final List<Pattern> FORMS = List.of(
            Pattern.compile("(?i)(X-Amz-(?:Signature|Security-Token)(?:=|%3D))[^&\\s\"'\\\\]+"),
            Pattern.compile("(?i)(\\bSignature=)[^,&\\s\"'\\\\]+"),
            Pattern.compile("(?i)(\\bauthorization\"?\\s*[:=]\\s*\"?)[^\"\\r\\n\\\\]+"),
            Pattern.compile(
                    "(?i)((?:\\b|_)(?:secret_?key|secret_?access_?key|session_?token|password|"
                            + "passphrase|token|cookie)\"?\\s*[:=]\\s*\"?)[^\"\\s,}\\\\]+"),
            Pattern.compile("(://)[^/@\\s\"]+(?=@)"),
            Pattern.compile("(-----BEGIN [A-Z ]*PRIVATE KEY-----)[\\s\\S]*?(?=-----END|$)"));

    private final Supplier<? extends Collection<String>> known;

    /** @param known the secrets of the moment */
    public SecretMask(Supplier<? extends Collection<String>> known) {
        this.known = known;
    }

    String of(String text) {
        String masked = text;
        for (String secret : known.get()) {
            if (secret.length() >= LEAST_CHARS) {
                masked = masked.replace(secret, MASK);
            }
        }
        for (Pattern form : FORMS) {
            masked = form.matcher(masked).replaceAll("$1" + MASK);
        }
        return masked;
    }
}
