package io.railhead.gateway.identity;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.MessageDigest;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A text that must not be printed. Compared in constant time. */
public final class Secret {
    private final String text;

    public Secret(String text) {
        this.text = Objects.requireNonNull(text, "text is null");
    }

    /** Returns the text for signing; never for a log or a message. */
    public String reveal() {
        return text;
    }

    /** Compares in a time that does not depend on the first difference. */
    public boolean matches(String other) {
        return MessageDigest.isEqual(text.getBytes(UTF_8), other.getBytes(UTF_8));
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return this == other || (other instanceof Secret secret && matches(secret.text));
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    @Override
    public String toString() {
        return "****";
    }
}
