package io.railhead.gateway.s3.sigv4;

import io.railhead.backend.PercentCodec;
import io.railhead.gateway.s3.Query;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/** A query as SigV4 signs it. */
final class CanonicalQuery {
    private static final List<String> OF_NONE = List.of("");
    private static final Comparator<Part> BY_NAME = Comparator.comparing(Part::name);

    private CanonicalQuery() {}

    /** In SigV4's spelling. */
    private record Part(String name, String value) {}

    /**
     * Sorted by name, but for the signature itself. Values of one name are sorted, as the documents
     * of AWS say; a second form leaves them in the order sent, as MinIO and Go's SDK do.
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
