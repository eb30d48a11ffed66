package io.railhead.gateway.authorization;

import io.railhead.gateway.s3.Query;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The actions that reading, writing and deleting one of a bucket's settings need; null if S3 has no
 * such operation. See "Permissions" of each operation in the Amazon S3 API reference.
 */
record BucketSubresource(@Nullable S3Action get, @Nullable S3Action put,
        @Nullable S3Action delete) {
    private static final Map<String, BucketSubresource> ALL = all();

    /** The operation on a setting. */
    enum Verb {
        GET,
        PUT,
        DELETE
    }

    private static Map<String, BucketSubresource> all() {
        Map<String, BucketSubresource> all = new HashMap<>();
        all.put("location", new BucketSubresource(S3Action.GET_BUCKET_LOCATION, null, null));
        all.put("policyStatus",
                new BucketSubresource(S3Action.GET_BUCKET_POLICY_STATUS, null, null));
        all.put("policy", new BucketSubresource(S3Action.GET_BUCKET_POLICY,
                S3Action.PUT_BUCKET_POLICY, S3Action.DELETE_BUCKET_POLICY));
        all.put("website", new BucketSubresource(S3Action.GET_BUCKET_WEBSITE,
                S3Action.PUT_BUCKET_WEBSITE, S3Action.DELETE_BUCKET_WEBSITE));
        kept(all, "acl", S3Action.GET_BUCKET_ACL, S3Action.PUT_BUCKET_ACL);
        kept(all, "versioning", S3Action.GET_BUCKET_VERSIONING, S3Action.PUT_BUCKET_VERSIONING);
        kept(all, "notification", S3Action.GET_BUCKET_NOTIFICATION,
                S3Action.PUT_BUCKET_NOTIFICATION);
        kept(all, "logging", S3Action.GET_BUCKET_LOGGING, S3Action.PUT_BUCKET_LOGGING);
        kept(all, "object-lock", S3Action.GET_BUCKET_OBJECT_LOCK_CONFIGURATION,
                S3Action.PUT_BUCKET_OBJECT_LOCK_CONFIGURATION);
        kept(all, "requestPayment", S3Action.GET_BUCKET_REQUEST_PAYMENT,
                S3Action.PUT_BUCKET_REQUEST_PAYMENT);
        kept(all, "accelerate", S3Action.GET_ACCELERATE_CONFIGURATION,
                S3Action.PUT_ACCELERATE_CONFIGURATION);
        removable(all, "lifecycle", S3Action.GET_LIFECYCLE_CONFIGURATION,
                S3Action.PUT_LIFECYCLE_CONFIGURATION);
        removable(all, "cors", S3Action.GET_BUCKET_CORS, S3Action.PUT_BUCKET_CORS);
        removable(all, "tagging", S3Action.GET_BUCKET_TAGGING, S3Action.PUT_BUCKET_TAGGING);
        removable(all, "encryption", S3Action.GET_ENCRYPTION_CONFIGURATION,
                S3Action.PUT_ENCRYPTION_CONFIGURATION);
        removable(all, "replication", S3Action.GET_REPLICATION_CONFIGURATION,
                S3Action.PUT_REPLICATION_CONFIGURATION);
        removable(all, "ownershipControls", S3Action.GET_BUCKET_OWNERSHIP_CONTROLS,
                S3Action.PUT_BUCKET_OWNERSHIP_CONTROLS);
        removable(all, "publicAccessBlock", S3Action.GET_BUCKET_PUBLIC_ACCESS_BLOCK,
                S3Action.PUT_BUCKET_PUBLIC_ACCESS_BLOCK);
        removable(all, "analytics", S3Action.GET_ANALYTICS_CONFIGURATION,
                S3Action.PUT_ANALYTICS_CONFIGURATION);
        removable(all, "inventory", S3Action.GET_INVENTORY_CONFIGURATION,
                S3Action.PUT_INVENTORY_CONFIGURATION);
        removable(all, "metrics", S3Action.GET_METRICS_CONFIGURATION,
                S3Action.PUT_METRICS_CONFIGURATION);
        removable(all, "intelligent-tiering", S3Action.GET_INTELLIGENT_TIERING_CONFIGURATION,
                S3Action.PUT_INTELLIGENT_TIERING_CONFIGURATION);
        return Map.copyOf(all);
    }

    private static void kept(Map<String, BucketSubresource> all, String name, S3Action get,
            S3Action put) {
        all.put(name, new BucketSubresource(get, put, null));
    }

    /** Adds a setting whose deletion needs the permission to write it. */
    private static void removable(Map<String, BucketSubresource> all, String name, S3Action get,
            S3Action put) {
        all.put(name, new BucketSubresource(get, put, put));
    }

    static boolean isKnown(String name) {
        return ALL.containsKey(name);
    }

    /**
     * Returns the actions for every setting that the query names: stores differ in the one that
     * they obey.
     */
    static List<S3Action> wanted(Query query, Verb verb) {
        List<S3Action> wanted = new ArrayList<>();
        ALL.forEach((name, subresource) -> {
            S3Action action = query.has(name) ? subresource.action(verb) : null;
            if (action != null) {
                wanted.add(action);
            }
        });
        return wanted;
    }

    private @Nullable S3Action action(Verb verb) {
        return switch (verb) {
            case GET -> get;
            case PUT -> put;
            case DELETE -> delete;
        };
    }
}
