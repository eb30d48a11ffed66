package io.railhead.gateway.authorization;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/**
 * The actions that policies may name: "Actions, resources, and condition keys for Amazon S3" in the
 * Service Authorization Reference.
 */
public enum S3Action {
    ABORT_MULTIPART_UPLOAD("AbortMultipartUpload"),
    BYPASS_GOVERNANCE_RETENTION("BypassGovernanceRetention"),
    CREATE_BUCKET("CreateBucket"),
    DELETE_BUCKET("DeleteBucket"),
    DELETE_BUCKET_POLICY("DeleteBucketPolicy"),
    DELETE_BUCKET_WEBSITE("DeleteBucketWebsite"),
    DELETE_OBJECT("DeleteObject"),
    DELETE_OBJECT_TAGGING("DeleteObjectTagging"),
    DELETE_OBJECT_VERSION("DeleteObjectVersion"),
    DELETE_OBJECT_VERSION_TAGGING("DeleteObjectVersionTagging"),
    GET_ACCELERATE_CONFIGURATION("GetAccelerateConfiguration"),
    GET_ANALYTICS_CONFIGURATION("GetAnalyticsConfiguration"),
    GET_BUCKET_ACL("GetBucketAcl"),
    GET_BUCKET_CORS("GetBucketCORS"),
    GET_BUCKET_LOCATION("GetBucketLocation"),
    GET_BUCKET_LOGGING("GetBucketLogging"),
    GET_BUCKET_NOTIFICATION("GetBucketNotification"),
    GET_BUCKET_OBJECT_LOCK_CONFIGURATION("GetBucketObjectLockConfiguration"),
    GET_BUCKET_OWNERSHIP_CONTROLS("GetBucketOwnershipControls"),
    GET_BUCKET_POLICY("GetBucketPolicy"),
    GET_BUCKET_POLICY_STATUS("GetBucketPolicyStatus"),
    GET_BUCKET_PUBLIC_ACCESS_BLOCK("GetBucketPublicAccessBlock"),
    GET_BUCKET_REQUEST_PAYMENT("GetBucketRequestPayment"),
    GET_BUCKET_TAGGING("GetBucketTagging"),
    GET_BUCKET_VERSIONING("GetBucketVersioning"),
    GET_BUCKET_WEBSITE("GetBucketWebsite"),
    GET_ENCRYPTION_CONFIGURATION("GetEncryptionConfiguration"),
    GET_INTELLIGENT_TIERING_CONFIGURATION("GetIntelligentTieringConfiguration"),
    GET_INVENTORY_CONFIGURATION("GetInventoryConfiguration"),
    GET_LIFECYCLE_CONFIGURATION("GetLifecycleConfiguration"),
    GET_METRICS_CONFIGURATION("GetMetricsConfiguration"),
    GET_OBJECT("GetObject"),
    GET_OBJECT_ACL("GetObjectAcl"),
    GET_OBJECT_ATTRIBUTES("GetObjectAttributes"),
    GET_OBJECT_LEGAL_HOLD("GetObjectLegalHold"),
    GET_OBJECT_RETENTION("GetObjectRetention"),
    GET_OBJECT_TAGGING("GetObjectTagging"),
    GET_OBJECT_TORRENT("GetObjectTorrent"),
    GET_OBJECT_VERSION("GetObjectVersion"),
    GET_OBJECT_VERSION_ACL("GetObjectVersionAcl"),
    GET_OBJECT_VERSION_ATTRIBUTES("GetObjectVersionAttributes"),
    GET_OBJECT_VERSION_TAGGING("GetObjectVersionTagging"),
    GET_OBJECT_VERSION_TORRENT("GetObjectVersionTorrent"),
    GET_REPLICATION_CONFIGURATION("GetReplicationConfiguration"),
    LIST_ALL_MY_BUCKETS("ListAllMyBuckets"),
    LIST_BUCKET("ListBucket"),
    LIST_BUCKET_MULTIPART_UPLOADS("ListBucketMultipartUploads"),
    LIST_BUCKET_VERSIONS("ListBucketVersions"),
    LIST_MULTIPART_UPLOAD_PARTS("ListMultipartUploadParts"),
    PUT_ACCELERATE_CONFIGURATION("PutAccelerateConfiguration"),
    PUT_ANALYTICS_CONFIGURATION("PutAnalyticsConfiguration"),
    PUT_BUCKET_ACL("PutBucketAcl"),
    PUT_BUCKET_CORS("PutBucketCORS"),
    PUT_BUCKET_LOGGING("PutBucketLogging"),
    PUT_BUCKET_NOTIFICATION("PutBucketNotification"),
    PUT_BUCKET_OBJECT_LOCK_CONFIGURATION("PutBucketObjectLockConfiguration"),
    PUT_BUCKET_OWNERSHIP_CONTROLS("PutBucketOwnershipControls"),
    PUT_BUCKET_POLICY("PutBucketPolicy"),
    PUT_BUCKET_PUBLIC_ACCESS_BLOCK("PutBucketPublicAccessBlock"),
    PUT_BUCKET_REQUEST_PAYMENT("PutBucketRequestPayment"),
    PUT_BUCKET_TAGGING("PutBucketTagging"),
    PUT_BUCKET_VERSIONING("PutBucketVersioning"),
    PUT_BUCKET_WEBSITE("PutBucketWebsite"),
    PUT_ENCRYPTION_CONFIGURATION("PutEncryptionConfiguration"),
    PUT_INTELLIGENT_TIERING_CONFIGURATION("PutIntelligentTieringConfiguration"),
    PUT_INVENTORY_CONFIGURATION("PutInventoryConfiguration"),
    PUT_LIFECYCLE_CONFIGURATION("PutLifecycleConfiguration"),
    PUT_METRICS_CONFIGURATION("PutMetricsConfiguration"),
    PUT_OBJECT("PutObject"),
    PUT_OBJECT_ACL("PutObjectAcl"),
    PUT_OBJECT_LEGAL_HOLD("PutObjectLegalHold"),
    PUT_OBJECT_RETENTION("PutObjectRetention"),
    PUT_OBJECT_TAGGING("PutObjectTagging"),
    PUT_OBJECT_VERSION_ACL("PutObjectVersionAcl"),
    PUT_OBJECT_VERSION_TAGGING("PutObjectVersionTagging"),
    PUT_REPLICATION_CONFIGURATION("PutReplicationConfiguration"),
    RESTORE_OBJECT("RestoreObject");

    private final String policyName;

    S3Action(String name) {
        this.policyName = "s3:" + name;
    }

    /** Returns the name in policies, such as {@code s3:GetObject}. */
    String policyName() {
        return policyName;
    }

    /**
     * Returns the actions that match a pattern such as {@code s3:Get*}; the case does not matter in
     * policies.
     */
    static Set<S3Action> matching(String pattern) {
        Wildcard wildcard = Wildcard.of(pattern.toLowerCase(Locale.ROOT));
        Set<S3Action> matching = EnumSet.noneOf(S3Action.class);
        for (S3Action action : values()) {
            if (wildcard.matches(action.policyName.toLowerCase(Locale.ROOT))) {
                matching.add(action);
            }
        }
        return matching;
    }
}
