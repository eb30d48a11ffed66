package io.railhead.gateway.log;

import io.railhead.gateway.request.Address;
import io.railhead.gateway.s3.Query;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** The name of an operation in S3's access log: {@code REST.GET.OBJECT}. */
final class OperationName {
    /** The operations that query parameters select on an object. */
    private static final Map<String, String> OF_OBJECTS = new LinkedHashMap<>();
    private static final Map<String, String> OF_BUCKETS = new LinkedHashMap<>();

    static {
        OF_OBJECTS.put("tagging", "OBJECT_TAGGING");
        OF_OBJECTS.put("acl", "ACL");
        OF_OBJECTS.put("attributes", "OBJECT_ATTRIBUTES");
        OF_OBJECTS.put("retention", "OBJECT_LOCK_RETENTION");
        OF_OBJECTS.put("legal-hold", "OBJECT_LOCK_LEGALHOLD");
        OF_OBJECTS.put("uploads", "UPLOADS");
        OF_OBJECTS.put("uploadId", "UPLOAD");
        OF_OBJECTS.put("restore", "OBJECT_RESTORE");
        OF_OBJECTS.put("select", "OBJECT_SELECT");
        OF_OBJECTS.put("torrent", "TORRENT");
        OF_BUCKETS.put("delete", "MULTI_OBJECT_DELETE");
        OF_BUCKETS.put("versions", "BUCKETVERSIONS");
        OF_BUCKETS.put("uploads", "UPLOADS");
        OF_BUCKETS.put("policy", "BUCKETPOLICY");
        OF_BUCKETS.put("policyStatus", "BUCKETPOLICYSTATUS");
        OF_BUCKETS.put("publicAccessBlock", "PUBLIC_ACCESS_BLOCK");
        OF_BUCKETS.put("object-lock", "OBJECT_LOCK_CONFIGURATION");
        for (String name : new String[]{"acl", "cors", "encryption", "lifecycle", "location",
                "logging", "notification", "replication", "tagging", "versioning", "website"}) {
            OF_BUCKETS.put(name, name.toUpperCase(Locale.ROOT));
        }
    }

    private OperationName() {}

    static String of(String method, Address address, Query query, boolean isCopy) {
        String verb = method.equals("PUT") && isCopy ? "COPY" : method;
        if (address.bucket() == null) {
            return "REST." + verb + ".SERVICE";
        }
        if (method.equals("OPTIONS")) {
            return "REST.OPTIONS.PREFLIGHT";
        }
        if (address.rawKey().isEmpty()) {
            return "REST." + verb + '.' + resource(OF_BUCKETS, query, "BUCKET");
        }
        boolean isPart = method.equals("PUT") && query.has("uploadId");
        return "REST." + verb + '.' + (isPart ? "PART" : resource(OF_OBJECTS, query, "OBJECT"));
    }

    private static String resource(Map<String, String> names, Query query, String otherwise) {
        for (Map.Entry<String, String> name : names.entrySet()) {
            if (query.has(name.getKey())) {
                return name.getValue();
            }
        }
        return otherwise;
    }
}
