package io.railhead.gateway.s3;

import io.railhead.backend.PercentCodec;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A raw query string and its parameters in order. Immutable; lookups allocate nothing. */
public final class Query {
    private static final Set<String> SIGNING = Set.of("x-amz-algorithm", "x-amz-credential",
            "x-amz-date",
            "x-amz-expires", "x-amz-signedheaders", "x-amz-signature", "x-amz-security-token",
            "x-amz-content-sha256");

    private static final Set<String> SIGNING_V2 = Set.of("AWSAccessKeyId", "Signature", "Expires");

    private final List<Parameter> parameters;
    private final boolean signedV2;

    private Query(List<Parameter> parameters) {
        this.parameters = parameters;
        this.signedV2 = has("AWSAccessKeyId") && has("Signature");
    }

    /** @param raw as sent, without percent-decoding; {@code name} and {@code value} are decoded */
    private record Parameter(String raw, String name, @Nullable String value) {

        String rawValue() {
            int equals = raw.indexOf('=');
            return equals < 0 ? "" : raw.substring(equals + 1);
        }
    }

    /** Parses a query. Throws {@link IllegalArgumentException} on bad percent-encoding. */
    public static Query parse(@Nullable String raw) {
        if (raw == null || raw.isEmpty()) {
            return new Query(List.of());
        }
        List<Parameter> parameters = new ArrayList<>();
        for (String part : PercentCodec.ascii(raw).split("&", -1)) {
            if (!part.isEmpty()) {
                parameters.add(parameter(part));
            }
        }
        return new Query(List.copyOf(parameters));
    }

    /** Parses a query. Throws {@link S3Refusal} on bad percent-encoding. */
    public static Query require(@Nullable String raw) {
        try {
            return parse(raw);
        } catch (IllegalArgumentException e) {
            throw new S3Refusal(S3Error.INVALID_URI, "Couldn't parse the specified URI.");
        }
    }

    /** Returns a query of decoded names and values; a parameter with an empty value is left out. */
    public static Query of(Map<String, String> parameters) {
        List<Parameter> encoded = new ArrayList<>();
        parameters.forEach((name, value) -> {
            if (!value.isEmpty()) {
                encoded.add(new Parameter(name + "=" + PercentCodec.encode(value), name,
                        value));
            }
        });
        return new Query(List.copyOf(encoded));
    }

    private static Parameter parameter(String part) {
        int equals = part.indexOf('=');
        if (equals < 0) {
            return new Parameter(part, PercentCodec.decodeName(part), null);
        }
        return new Parameter(part, PercentCodec.decodeName(part.substring(0, equals)),
                PercentCodec.decodeName(part.substring(equals + 1)));
    }

    public boolean isEmpty() {
        return parameters.isEmpty();
    }

    /** Returns the number of parameters, repeated ones included. */
    public int size() {
        return parameters.size();
    }

    /** Visits every parameter's name and value in order, as sent; "" for no value. */
    public void forEachRaw(BiConsumer<String, String> visitor) {
        for (Parameter parameter : parameters) {
            int equals = parameter.raw.indexOf('=');
            visitor.accept(equals < 0 ? parameter.raw : parameter.raw.substring(0, equals),
                    parameter.rawValue());
        }
    }

    /**
     * Returns a value's bytes, each as one char, with plus signs read as spaces; null if there is
     * none. A repeated parameter is refused, since the intended one is unknown.
     */
    public @Nullable String single(String name) {
        Parameter found = null;
        for (Parameter parameter : parameters) {
            if (parameter.name.equals(name)) {
                if (found != null) {
                    throw new S3Refusal(S3Error.AUTHORIZATION_QUERY_PARAMETERS_ERROR,
                            name + " must not appear more than once.");
                }
                found = parameter;
            }
        }
        return found == null
                ? null
                : PercentCodec.decodeBytes(found.rawValue().replace('+', ' '));
    }

    public boolean has(String name) {
        return get(name) != null;
    }

    /**
     * Returns whether the parameter is there, and has a value each time. Some stores take one
     * without a value for absent.
     */
    public boolean hasValue(String name) {
        boolean found = false;
        for (Parameter parameter : parameters) {
            if (parameter.name.equals(name)) {
                if (parameter.value == null || parameter.value.isEmpty()) {
                    return false;
                }
                found = true;
            }
        }
        return found;
    }

    /** Returns the first value; "" for a parameter without one, null for an absent one. */
    public @Nullable String get(String name) {
        for (Parameter parameter : parameters) {
            if (parameter.name.equals(name)) {
                return parameter.value == null ? "" : parameter.value;
            }
        }
        return null;
    }

    /** Returns the first value, with plus signs read as spaces, as stores read them. */
    public @Nullable String getSpaced(String name) {
        for (Parameter parameter : parameters) {
            if (parameter.name.equals(name)) {
                return decode(parameter.rawValue().replace('+', ' '));
            }
        }
        return null;
    }

    /** Percent-decodes text from the wire; a plus sign stays one. */
    public static String decode(String raw) {
        return PercentCodec.decodeName(PercentCodec.ascii(raw));
    }

    /** Returns whether all names satisfy the test, except those of a presigned signature. */
    public boolean allNames(Predicate<String> test) {
        for (Parameter parameter : parameters) {
            if (!test.test(parameter.name) && !isSigning(parameter.name)) {
                return false;
            }
        }
        return true;
    }

    /** Returns whether the query carries a signature. */
    public boolean isPresigned() {
        return parameters.stream().anyMatch(parameter -> isSigning(parameter.name));
    }

    /**
     * Returns the query as sent, without the parameters of a presigned signature; null if nothing
     * is left.
     */
    public @Nullable String rawWithoutSigning() {
        List<String> kept = parameters.stream()
                .filter(parameter -> !isSigning(parameter.name))
                .map(Parameter::raw)
                .toList();
        return kept.isEmpty() ? null : String.join("&", kept);
    }

    private boolean isSigning(String name) {
        return SIGNING.contains(name.toLowerCase(Locale.ROOT))
                || (signedV2 && SIGNING_V2.contains(name));
    }
}
