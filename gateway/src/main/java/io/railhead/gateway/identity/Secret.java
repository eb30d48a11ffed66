package io.railhead.gateway.identity;

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

    /**
     * Compares in a time that depends on the other text's length alone. A text of another length is
     * compared with itself, for the same time.
     */
    public boolean matches(String other) {
        int length = other.length();
        boolean sameLength = text.length() == length;
        String known = sameLength ? text : other;
        int differences = 0;
        for (int i = 0; i < length; i++) {
            differences |= known.charAt(i) ^ other.charAt(i);
        }
        return sameLength && differences == 0;
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
