package io.railhead.gateway.s3.sigv4;

import io.railhead.backend.PercentCodec;
import io.railhead.gateway.s3.Query;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/** The canonical query of SigV4. */
final class CanonicalQuery {
    private static final List<String> OF_NONE = List.of("");
    private static final Comparator<Part> BY_NAME = Comparator.comparing(Part::name);

    private CanonicalQuery() {}

    /** A parameter in SigV4's percent-encoding. */
    private record Part(String name, String value) {}

    /**
     * Returns the canonical forms, sorted by name and without the signature itself. The first form
     * also sorts the values of one name, as AWS documents it. A second form leaves values in their
     * order, as MinIO and Go's SDK do.
     */
    static List<String> forms(Query query) {
        if (query.isEmpty()) {
            return OF_NONE;
        }
        List<Part> parts = new ArrayList<>();
        query.forEachRaw((name, value) -> parts.add(new Part(
                PercentCodec.canonicalQueryPart(name), PercentCodec.canonicalQueryPart(value))));
        String sorted = joined(parts, BY_NAME.thenComparing(Part::value));
        String asSent = joined(parts, BY_NAME);
        return sorted.equals(asSent) ? List.of(sorted) : List.of(sorted, asSent);
    }

    private static String joined(List<Part> parts, Comparator<Part> order) {
        return parts.stream()
                .filter(part -> !part.name.equals(PresignedQuery.SIGNATURE))
                .sorted(order)
                .map(part -> part.name + '=' + part.value)
                .collect(Collectors.joining("&"));
    }
}
