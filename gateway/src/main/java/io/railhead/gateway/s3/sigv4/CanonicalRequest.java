package io.railhead.gateway.s3.sigv4;

import io.railhead.backend.Headers;
import io.railhead.backend.PercentCodec;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * The canonical forms of a request that a SigV4 signature may cover. Clients and stores differ in
 * how they spell paths and order queries; each form names the same object and asks the same thing.
 */
final class CanonicalRequest {
    private static final List<String> NO_QUERY = List.of("");
    private static final Comparator<Parameter> BY_NAME = Comparator.comparing(Parameter::name);

    private CanonicalRequest() {}

    /** A parameter of the query in SigV4's spelling. */
    private record Parameter(String name, String value) {}

    /** Returns whether a form satisfies the test; the usual form is tried first. */
    static boolean anyForm(RequestHead head, Query query, Headers headers,
            SignatureInput signatureInput, Predicate<SignedBytes> test) {
        SignedFields fields = SignedFields.of(signatureInput, headers);
        List<String> queries = queries(query);
        for (String path : paths(head.rawPath())) {
            for (String parameters : queries) {
                SignedBytes form = SignedBytes.begin()
                        .add(head.method())
                        .add('\n')
                        .add(path)
                        .add('\n')
                        .add(parameters)
                        .add('\n');
                fields.addTo(form);
                form.add('\n').add(signatureInput.payload().headerValue());
                if (test.test(form)) {
                    return true;
                }
            }
        }
        return false;
    }

    /**
     * The spellings of a path that a signature may cover, the usual one first. All of them name the
     * same key once it is decoded.
     *
     * <ul> <li>Each byte in SigV4's spelling, {@code %2F} left as it is: AWS's SDKs. <li>A slash
     * for each {@code %2F}: MinIO and RGW, which decode the whole path. <li>The path as it was
     * sent: clients that sign another spelling and send that. </ul>
     */
    static List<String> paths(String raw) {
        String canonical = path(raw);
        if (canonical.indexOf("%2F") < 0 && canonical.equals(raw)) {
            return List.of(raw);
        }
        Set<String> paths = new LinkedHashSet<>();
        paths.add(canonical);
        paths.add(canonical.replace("%2F", "/"));
        paths.add(raw);
        return List.copyOf(paths);
    }

    /** A path in SigV4's spelling. */
    static String path(String raw) {
        try {
            return PercentCodec.canonicalPath(raw);
        } catch (IllegalArgumentException e) {
            throw new S3Refusal(S3Error.INVALID_URI);
        }
    }

    /**
     * A query sorted by name, without the signature. Values of one name are sorted, as the
     * documents of AWS say; a second form leaves them in the order sent, as MinIO and Go's SDK do.
     */
    static List<String> queries(Query query) {
        if (query.isEmpty()) {
            return NO_QUERY;
        }
        List<Parameter> parameters = new ArrayList<>();
        query.forEachRaw((name, value) -> parameters.add(new Parameter(
                PercentCodec.canonicalQueryPart(name), PercentCodec.canonicalQueryPart(value))));
        String sorted = joined(parameters, BY_NAME.thenComparing(Parameter::value));
        String asSent = joined(parameters, BY_NAME);
        return sorted.equals(asSent) ? List.of(sorted) : List.of(sorted, asSent);
    }

    private static String joined(List<Parameter> parameters, Comparator<Parameter> order) {
        return parameters.stream()
                .filter(parameter -> !parameter.name.equals(PresignedQuery.SIGNATURE))
                .sorted(order)
                .map(parameter -> parameter.name + '=' + parameter.value)
                .collect(Collectors.joining("&"));
    }
}
