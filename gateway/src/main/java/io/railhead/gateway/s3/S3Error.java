package io.railhead.gateway.s3;

/** The errors of the gateway's own responses, under S3's codes. */
public enum S3Error {
    ACCESS_DENIED("AccessDenied", 403, "Access Denied"),
    AUTHORIZATION_HEADER_MALFORMED("AuthorizationHeaderMalformed", 400,
            "The authorization header you provided is invalid."),
    AUTHORIZATION_QUERY_PARAMETERS_ERROR("AuthorizationQueryParametersError", 400,
            "The authorization query parameters that you provided are not valid."),
    BAD_DIGEST("BadDigest", 400,
            "The Content-MD5 or checksum value that you specified did not match what the server received."),
    BAD_REQUEST("BadRequest", 400, "Bad Request"),
    BUCKET_ALREADY_EXISTS("BucketAlreadyExists", 409,
            "The requested bucket name is not available. The bucket namespace is shared by all users of the system. Please select a different name and try again."),
    BUCKET_NOT_EMPTY("BucketNotEmpty", 409, "The bucket you tried to delete is not empty."),
    CONDITIONAL_REQUEST_CONFLICT("ConditionalRequestConflict", 409,
            "A conflicting operation occurred. If using PutObject you can retry the request. If using multipart upload you should initiate another CreateMultipartUpload request and re-upload each part."),
    ENTITY_TOO_LARGE("EntityTooLarge", 400,
            "Your proposed upload exceeds the maximum allowed object size."),
    ENTITY_TOO_SMALL("EntityTooSmall", 400,
            "Your proposed upload is smaller than the minimum allowed object size."),
    EXPIRED_TOKEN("ExpiredToken", 400, "The provided token has expired."),
    INCOMPLETE_BODY("IncompleteBody", 400,
            "You did not provide the number of bytes specified by the Content-Length HTTP header."),
    INTERNAL_ERROR("InternalError", 500, "We encountered an internal error. Please try again."),
    INVALID_ACCESS_KEY_ID("InvalidAccessKeyId", 403,
            "The AWS Access Key Id you provided does not exist in our records."),
    INVALID_ARGUMENT("InvalidArgument", 400, "Invalid Argument"),
    INVALID_BUCKET_NAME("InvalidBucketName", 400, "The specified bucket is not valid."),
    INVALID_DIGEST("InvalidDigest", 400,
            "The Content-MD5 or checksum value that you specified is not valid."),
    INVALID_PART("InvalidPart", 400, "One or more of the specified parts could not be found."),
    INVALID_PART_ORDER("InvalidPartOrder", 400,
            "The list of parts was not in ascending order. The parts list must be specified in order by part number."),
    INVALID_PART_NUMBER("InvalidPartNumber", 416, "The requested partnumber is not satisfiable."),
    INVALID_POLICY_DOCUMENT("InvalidPolicyDocument", 400,
            "The content of the form does not meet the conditions specified in the policy document."),
    INVALID_RANGE("InvalidRange", 416, "The requested range is not satisfiable"),
    INVALID_REQUEST("InvalidRequest", 400, "Invalid Request"),
    INVALID_TOKEN("InvalidToken", 400, "The provided token is malformed or otherwise not valid."),
    INVALID_URI("InvalidURI", 400, "The specified URI couldn't be parsed."),
    KEY_TOO_LONG("KeyTooLongError", 400, "Your key is too long."),
    MALFORMED_POST_REQUEST("MalformedPOSTRequest", 400,
            "The body of your POST request is not well-formed multipart/form-data."),
    MALFORMED_TRAILER("MalformedTrailerError", 400,
            "The request contained trailing data that was not well-formed or did not conform to our published schema."),
    MALFORMED_XML("MalformedXML", 400,
            "The XML you provided was not well-formed or did not validate against our published schema."),
    MAX_MESSAGE_LENGTH_EXCEEDED("MaxMessageLengthExceeded", 400, "Your request was too large."),
    MAX_POST_PRE_DATA_LENGTH_EXCEEDED("MaxPostPreDataLengthExceededError", 400,
            "Your POST request fields preceding the upload file were too large."),
    METADATA_TOO_LARGE("MetadataTooLarge", 400,
            "Your metadata headers exceed the maximum allowed metadata size."),
    METHOD_NOT_ALLOWED("MethodNotAllowed", 405,
            "The specified method is not allowed against this resource."),
    MISSING_CONTENT_LENGTH("MissingContentLength", 411,
            "You must provide the Content-Length HTTP header."),
    MISSING_SECURITY_HEADER("MissingSecurityHeader", 400,
            "Your request is missing a required header."),
    NO_SUCH_BUCKET("NoSuchBucket", 404, "The specified bucket does not exist."),
    NO_SUCH_KEY("NoSuchKey", 404, "The specified key does not exist."),
    NO_SUCH_UPLOAD("NoSuchUpload", 404,
            "The specified multipart upload does not exist. The upload ID might be invalid, or the multipart upload might have been aborted or completed."),
    NO_SUCH_VERSION("NoSuchVersion", 404,
            "The version ID specified in the request does not match an existing version."),
    NOT_IMPLEMENTED("NotImplemented", 501,
            "A header you provided implies functionality that is not implemented."),
    PRECONDITION_FAILED("PreconditionFailed", 412,
            "At least one of the pre-conditions you specified did not hold"),
    REQUEST_HEADER_SECTION_TOO_LARGE("RequestHeaderSectionTooLarge", 400,
            "Your request header section exceeds the maximum allowed size."),
    REQUEST_TIMEOUT("RequestTimeout", 400,
            "Your socket connection to the server was not read from or written to within the timeout period."),
    REQUEST_TIME_TOO_SKEWED("RequestTimeTooSkewed", 403,
            "The difference between the request time and the current time is too large."),
    SERVICE_UNAVAILABLE("ServiceUnavailable", 503, "Service is unable to handle request."),
    SIGNATURE_DOES_NOT_MATCH("SignatureDoesNotMatch", 403,
            "The request signature we calculated does not match the signature you provided. Check your key and signing method."),
    SLOW_DOWN("SlowDown", 503, "Please reduce your request rate."),
    CONTENT_SHA256_MISMATCH("XAmzContentSHA256Mismatch", 400,
            "The provided 'x-amz-content-sha256' header does not match what was computed."),
    /* The gateway's own codes: S3 has none for a store behind it, nor for one-sided delivery. */
    OBJECT_ALREADY_EXISTS("ObjectAlreadyExists", 409,
            "The key has other bytes, and a cache-only key is written once."),
    STORE_CREDENTIAL_REFUSED("StoreCredentialRefused", 403,
            "The store behind the gateway refuses the credential that the gateway signs with."),
    STORE_ANSWER_MALFORMED("StoreAnswerMalformed", 502,
            "The store behind the gateway sent an answer that is not valid HTTP."),
    STORE_ANSWER_TOO_LARGE("StoreAnswerTooLarge", 501,
            "The store behind the gateway sent more than the gateway takes."),
    INVALID_RDMA_TOKEN("InvalidRDMAToken", 400, "The RDMA token is malformed."),
    RDMA_TOKEN_NOT_SIGNED("RDMATokenNotSigned", 403,
            "The RDMA token must be a header covered by a header signature."),
    RDMA_TOKEN_STALE("RDMATokenStale", 403,
            "The request carrying the RDMA token was signed too long ago."),
    RDMA_TOKEN_REPLAYED("RDMATokenReplayed", 403,
            "This RDMA token was already used with this signature."),
    RDMA_NOT_PERMITTED("RDMANotPermitted", 403,
            "This principal may not use RDMA in this direction."),
    RDMA_FOREIGN_ADDRESS("RDMAForeignAddress", 403,
            "The RDMA token names an address that is not the caller's."),
    RDMA_NOT_SUPPORTED("RDMANotSupported", 501, "RDMA is not used for this request."),
    RDMA_UNKNOWN_SESSION("RDMAUnknownSession", 403,
            "There is no such RDMA session, or it has ended."),
    RDMA_FOREIGN_SESSION("RDMAForeignSession", 403,
            "The RDMA session belongs to another principal."),
    RDMA_UNKNOWN_KEY("RDMAUnknownKey", 403, "The RDMA session has no buffer with this key."),
    RDMA_OUT_OF_BOUNDS("RDMAOutOfBounds", 400, "The RDMA window lies outside the buffer."),
    RDMA_REMOTE_ACCESS("RDMARemoteAccessError", 400,
            "The client's memory could not be touched by the key and range that it named."),
    RDMA_PEER_GONE("RDMAPeerGone", 500, "The RDMA peer went away during the transfer."),
    RDMA_TRANSFER_FENCED("RDMATransferFenced", 500,
            "The RDMA transfer was fenced by its deadline."),
    RDMA_UNAVAILABLE("RDMAUnavailable", 503, "RDMA is not available."),
    RDMA_TRANSFER_FAILED("RDMATransferFailed", 500, "The RDMA transfer failed.");

    private final String code;
    private final int status;
    private final String message;

    S3Error(String code, int status, String message) {
        this.code = code;
        this.status = status;
        this.message = message;
    }

    public String code() {
        return code;
    }

    public int status() {
        return status;
    }

    /** Returns the default detail. */
    public String message() {
        return message;
    }
}
