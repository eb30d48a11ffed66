package io.railhead.gateway.operation;

import io.railhead.gateway.http.Operation;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.Query;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The table from requests to operations: the first matching row serves. Unmatched requests are
 * relayed.
 */
public final class Router {
    /** Query parameters that address a subresource of an object. */
    private static final List<String> SUBRESOURCES = List.of("acl", "attributes", "legal-hold",
            "partNumber", "restore",
            "retention", "select", "tagging", "torrent", "uploadId", "uploads", "renameObject");

    private static final Set<String> WRITES = Set.of("PUT", "POST", "DELETE", "PATCH");

    private final List<Row> rows;
    private final Operation otherwise;

    private record Row(String name, Predicate<S3Request> matches, Operation operation) {}

    /** An operation and its name in metrics and logs. */
    public record Match(String name, Operation operation) {}

    /** The operations that rows lead to. */
    record Table(Operation getObject, Operation headObject, Operation putObject,
            Operation uploadPart,
            Operation objectWrite, Operation deleteObjects, Operation bucketWrite,
            Operation form, Operation list, Operation relay) {}

    Router(Table operations) {
        otherwise = operations.relay();
        rows = List.of(
                new Row("GetObject", object("GET", Router::readsBytes),
                        operations.getObject()),
                new Row("HeadObject", object("HEAD", query -> !isSubresource(query)),
                        operations.headObject()),
                new Row("UploadPart", object("PUT", Router::isOfPart).and(Router::isNoCopy),
                        operations.uploadPart()),
                new Row("CopyObject", object("PUT", query -> !isSubresource(query))
                        .and(Predicate.not(Router::isNoCopy)),
                        operations.objectWrite()),
                new Row("PutObject", object("PUT", Router::writesAll).and(Router::isNoCopy),
                        operations.putObject()),
                new Row("DeleteObject", object("DELETE", query -> !isSubresource(query)),
                        operations.objectWrite()),
                new Row("RenameObject", object("PUT", query -> query.has("renameObject")),
                        operations.bucketWrite()),
                new Row("CompleteMultipartUpload", object("POST", query -> query.has("uploadId")),
                        operations.objectWrite()),
                new Row("PutObjectSubresource", object("PUT",
                        query -> isSubresource(query) && !isOfPart(query)),
                        operations.objectWrite()),
                new Row("PatchObject", object("PATCH", _ -> true), operations.objectWrite()),
                new Row("DeleteObjectTagging", object("DELETE", query -> query.has("tagging")),
                        operations.objectWrite()),
                new Row("RestoreObject", object("POST", query -> query.has("restore")),
                        operations.objectWrite()),
                new Row("DeleteObjectSubresource",
                        object("DELETE", query -> !query.hasValue("uploadId")),
                        operations.objectWrite()),
                new Row("PostObject", object("POST", Router::mayWrite), operations.objectWrite()),
                new Row("DeleteObjects",
                        request -> request.method().equals("POST") && !request.namesObject()
                                && request.query().has("delete"),
                        operations.deleteObjects()),
                new Row("PostForm", S3Request::isForm, operations.form()),
                new Row("BucketWrite",
                        request -> !request.namesObject() && request.address().bucket() != null
                                && WRITES.contains(request.method()),
                        operations.bucketWrite()),
                new Row("ListObjects",
                        request -> request.method().equals("GET") && !request.namesObject()
                                && request.address().bucket() != null,
                        operations.list()));
    }

    private static Predicate<S3Request> object(String method, Predicate<Query> query) {
        return request -> request.method().equals(method) && request.namesObject()
                && query.test(request.query());
    }

    /** Returns whether a query reads the whole object or one of its parts. */
    private static boolean readsBytes(Query query) {
        for (String name : SUBRESOURCES) {
            if (query.has(name) && !name.equals("partNumber")) {
                return false;
            }
        }
        return true;
    }

    private static boolean isOfPart(Query query) {
        return query.hasValue("uploadId") && query.has("partNumber");
    }

    /**
     * Returns whether a query writes the whole object. Some stores take an upload without a part
     * number for one.
     */
    private static boolean writesAll(Query query) {
        return !isSubresource(query) || (query.has("uploadId") && !isOfPart(query));
    }

    private static boolean isNoCopy(S3Request request) {
        return request.header("x-amz-copy-source") == null;
    }

    private static boolean isSubresource(Query query) {
        return SUBRESOURCES.stream().anyMatch(query::has);
    }

    /** Returns whether a POST may write: it neither starts a multipart upload nor only reads. */
    private static boolean mayWrite(Query query) {
        return !query.has("uploads") && !query.has("select");
    }

    public Match match(S3Request request) {
        for (Row row : rows) {
            if (row.matches.test(request)) {
                return new Match(row.name, row.operation);
            }
        }
        return new Match("Relay", otherwise);
    }
}
