package io.railhead.gateway.auth;

import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A query, its names and values in SigV4's spelling, in the order of arrival. */
final class QueryParameters {
    private static final QueryParameters NONE = new QueryParameters(List.of());
    private static final int MAX = 512;
    private static final Comparator<Parameter> BY_NAME = Comparator.comparing(Parameter::name);

    private final List<Parameter> parameters;

    private record Parameter(String name, String value, String raw) {}

    private QueryParameters(List<Parameter> parameters) {
        this.parameters = parameters;
    }

    static QueryParameters parse(@Nullable String rawQuery) {
        if (rawQuery == null || rawQuery.isEmpty()) {
            return NONE;
        }
        List<Parameter> parameters = new ArrayList<>();
        int start = 0;
        while (start <= rawQuery.length()) {
            int end = rawQuery.indexOf('&', start);
            end = end < 0 ? rawQuery.length() : end;
            if (end > start) {
                parameters.add(parameter(rawQuery.substring(start, end)));
            }
            if (parameters.size() > MAX) {
                throw new S3Refusal(S3Error.INVALID_URI, "The query has too many parameters.");
            }
            start = end + 1;
        }
        return new QueryParameters(parameters);
    }

    private static Parameter parameter(String raw) {
        int equals = raw.indexOf('=');
        String name = equals < 0 ? raw : raw.substring(0, equals);
        String value = equals < 0 ? "" : raw.substring(equals + 1);
        return new Parameter(UriEncoding.queryPart(name), UriEncoding.queryPart(value), value);
    }

    boolean contains(String name) {
        for (Parameter parameter : parameters) {
            if (parameter.name.equals(name)) {
                return true;
            }
        }
        return false;
    }

    /** The decoded value, or null; twice is refused, for nobody knows which one was meant. */
    @Nullable
    String single(String name) {
        String found = null;
        for (Parameter parameter : parameters) {
            if (parameter.name.equals(name)) {
                if (found != null) {
                    throw new S3Refusal(S3Error.AUTHORIZATION_QUERY_PARAMETERS_ERROR,
                            name + " must not appear more than once.");
                }
                found = UriEncoding.decodeQueryPart(parameter.raw);
            }
        }
        return found;
    }

    /** Every parameter, name and value decoded, each char one byte; a plus sign stays one. */
    void forEach(BiConsumer<String, String> visitor) {
        for (Parameter parameter : parameters) {
            visitor.accept(UriEncoding.decodeQueryPart(parameter.name),
                    UriEncoding.decodeQueryPart(parameter.raw.replace("+", "%2B")));
        }
    }

    /**
     * Sorted by name, but for the signature itself. Values of one name are sorted, as the documents
     * of AWS say; a second form leaves them in the order sent, as MinIO and Go's SDK do.
     */
    List<String> canonical() {
        if (parameters.isEmpty()) {
            return List.of("");
        }
        String sorted = joined(BY_NAME.thenComparing(Parameter::value));
        String asSent = joined(BY_NAME);
        return sorted.equals(asSent) ? List.of(sorted) : List.of(sorted, asSent);
    }

    private String joined(Comparator<Parameter> order) {
        return parameters.stream()
                .filter(p -> !p.name.equals(PresignedQuery.SIGNATURE))
                .sorted(order)
                .map(p -> p.name + '=' + p.value)
                .collect(Collectors.joining("&"));
    }
}
