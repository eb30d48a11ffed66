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

/** A raw query string and its parameters in order. Immutable; looking makes nothing. */
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

    /** Throws {@link IllegalArgumentException} on bad percent-encoding. */
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

    /** The same, but throws {@link S3Refusal}. */
    public static Query require(@Nullable String raw) {
        try {
            return parse(raw);
        } catch (IllegalArgumentException e) {
            throw new S3Refusal(S3Error.INVALID_URI, "Couldn't parse the specified URI.");
        }
    }

    /** Of names and values as they are; an empty value leaves its parameter out. */
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

    /** Of parameters; one that is there twice counts twice. */
    public int size() {
        return parameters.size();
    }

    /** Every parameter's name and value in the order of arrival, as sent; "" for no value. */
    public void forEachRaw(BiConsumer<String, String> visitor) {
        for (Parameter parameter : parameters) {
            int equals = parameter.raw.indexOf('=');
            visitor.accept(equals < 0 ? parameter.raw : parameter.raw.substring(0, equals),
                    parameter.rawValue());
        }
    }

    /**
     * The value's bytes, each as one char, a plus sign read as a space; null where there is none.
     * Twice is refused, for nobody knows which one was meant.
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
     * Whether it is there, and nowhere without a value, which some stores take for its absence.
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

    /** The first value, "" for a parameter without one, null where there is none of that name. */
    public @Nullable String get(String name) {
        for (Parameter parameter : parameters) {
            if (parameter.name.equals(name)) {
                return parameter.value == null ? "" : parameter.value;
            }
        }
        return null;
    }

    /** The same with a plus sign read as a space, as stores read it. */
    public @Nullable String getSpaced(String name) {
        for (Parameter parameter : parameters) {
            if (parameter.name.equals(name)) {
                return decode(parameter.rawValue().replace('+', ' '));
            }
        }
        return null;
    }

    /** Percent-decoding of what came over the wire, where a plus sign stays one. */
    public static String decode(String raw) {
        return PercentCodec.decodeName(PercentCodec.ascii(raw));
    }

    /** Whether every parameter's name satisfies the test. */
    public boolean allNames(Predicate<String> test) {
        for (Parameter parameter : parameters) {
            if (!test.test(parameter.name) && !isSigning(parameter.name)) {
                return false;
            }
        }
        return true;
    }

    /** Whether it carries a signature of its own. */
    public boolean isPresigned() {
        return parameters.stream().anyMatch(parameter -> isSigning(parameter.name));
    }

    /** As sent, less the parameters of a presigned URL; null if nothing is left. */
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
