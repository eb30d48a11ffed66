package io.railhead.gateway.authorization;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.Headers;
import io.railhead.gateway.request.Address;
import io.railhead.gateway.request.RequestSource;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.railhead.gateway.s3.sigv4.RequestHead;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RequestedAccessTest {

    @SuppressWarnings("NullAway")
    private static S3Request request(String method, String uri, String header) {
        int mark = uri.indexOf('?');
        String path = mark < 0 ? uri : uri.substring(0, mark);
        String query = mark < 0 ? null : uri.substring(mark + 1);
        Headers.Builder headers = Headers.builder();
        for (String line : header == null ? new String[0] : header.split(";")) {
            headers.add(line.substring(0, line.indexOf(':')),
                    line.substring(line.indexOf(':') + 1));
        }
        return new S3Request(new RequestHead(method, path, query, headers.build()),
                Address.of(path, null, List.of()), Query.parse(query),
                new Authentication.Anonymous(), RequestSource.anonymous(null, false), null);
    }

    private static String wanted(String method, String uri, String header) {
        List<Access> wanted = RequestedAccess.of(request(method, uri, header));
        return wanted == null
                ? "none"
                : wanted.stream()
                        .map(access -> access.action().policyName().substring(3) + " "
                                + access.bucket()
                                + (access.key() == null ? "" : "/" + access.key()))
                        .collect(Collectors.joining(", "));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "GET    | /                        || ListAllMyBuckets ''",
            "GET    | /b                       || ListBucket b",
            "HEAD   | /b                       || ListBucket b",
            "GET    | /b?list-type=2&prefix=x  || ListBucket b",
            "GET    | /b?location              || GetBucketLocation b",
            "GET    | /b?versions              || ListBucketVersions b",
            "GET    | /b?uploads               || ListBucketMultipartUploads b",
            "PUT    | /b                       || CreateBucket b",
            "PUT    | /b?policy                || PutBucketPolicy b",
            "DELETE | /b?policy                || DeleteBucketPolicy b",
            "DELETE | /b?cors                  || PutBucketCORS b",
            "DELETE | /b?versioning            || DeleteBucket b",
            "DELETE | /b                       || DeleteBucket b",
            "POST   | /b?delete                || ''",
            "POST   | /b                       || none",
            "GET    | /b?usage                 || none",
            "GET    | /b?prefix=a&prefix=b     || none",
            "GET    | /b?list-type=2&metadata=true || none",
            "GET    | /b?versions&metadata=true || none",
            "GET    | /b/k | x-amz-tagging-directive:ACCESS | GetObject b/k, GetObjectTagging b/k",
            "GET    | /b/k                     || GetObject b/k",
            "GET    | /b/a%2Fb//c              || GetObject b/a/b//c",
            "HEAD   | /b/k                     || GetObject b/k",
            "GET    | /b/k?versionId=1         || GetObjectVersion b/k",
            "GET    | /b/k?partNumber=1&response-content-type=x || GetObject b/k",
            "GET    | /b/k?acl                 || GetObjectAcl b/k",
            "HEAD   | /b/k?acl                 || GetObjectAcl b/k, GetObject b/k",
            "GET    | /b/k?tagging&versionId=1 || GetObjectVersionTagging b/k",
            "GET    | /b/k?attributes          || GetObjectAttributes b/k, GetObject b/k",
            "GET    | /b/k?uploadId=1          || ListMultipartUploadParts b/k",
            "GET    | /b/k?unheard-of          || none",
            "PUT    | /b/k                     || PutObject b/k",
            "PUT    | /b/k?x-amz-acl=private   || PutObject b/k, PutObjectAcl b/k",
            "PUT    | /b/k?partNumber=1&uploadId=u || PutObject b/k",
            "PUT    | /b/k | x-amz-acl:private;x-amz-tagging:a=b | PutObject b/k, PutObjectAcl b/k, PutObjectTagging b/k",
            "PUT    | /b/k | x-amz-grant-read:id=1 | PutObject b/k, PutObjectAcl b/k",
            "PUT    | /b/k | x-amz-copy-source:/c/a%20b | PutObject b/k, GetObject c/a b",
            "PUT    | /b/k | x-amz-copy-source:c/a?versionId=3 | PutObject b/k, GetObjectVersion c/a",
            "PUT    | /b/k | x-amz-copy-source:c/a+b | PutObject b/k, GetObject c/a+b, GetObject c/a b",
            "PUT    | /b/k | x-amz-copy-source:arn:aws:s3:x | none",
            "PUT    | /b/k | x-amz-copy-source:c | none",
            "PUT    | /b/k | x-amz-copy-source:c/a;x-amz-copy-source:c/secret | none",
            "PUT    | /b/k?x-amz-copy-source=c/a || none",
            "PUT    | /b/k | x-amz-copy-source:c/a#b | none",
            "PUT    | /b/k | x-amz-copy-source:http://h/c/a | none",
            "PUT    | /b/k | x-amz-copy-source:c/a:b | PutObject b/k, GetObject c/a:b",
            "PUT    | /b/k?retention | x-amz-copy-source:c/a | PutObjectRetention b/k, PutObject b/k, GetObject c/a",
            "PUT    | /b/k?acl&uploadId=u&partNumber=1 || PutObjectAcl b/k, PutObject b/k",
            "PUT    | /b/k | x-amz-meta-snowball-auto-extract:true | none",
            "DELETE | /b/k | x-minio-force-delete:true | none",
            "GET    | /b/k.zip/a | x-minio-extract:true | none",
            "PUT    | /b/k?renameObject        || none",
            "PUT    | /b/k?retention | x-amz-bypass-governance-retention:true | PutObjectRetention b/k, BypassGovernanceRetention b/k",
            "POST   | /b/k?uploads             || PutObject b/k",
            "POST   | /b/k?uploadId=1          || PutObject b/k",
            "POST   | /b/k?select&select-type=2 || GetObject b/k",
            "POST   | /b/k                     || none",
            "DELETE | /b/k                     || DeleteObject b/k",
            "DELETE | /b/k?versionId=1         || DeleteObjectVersion b/k",
            "DELETE | /b/k?versionId=          || DeleteObject b/k, DeleteObjectVersion b/k",
            "GET    | /b/k?versionId           || GetObject b/k, GetObjectVersion b/k",
            "GET    | /b/k?acl&versionId=      || GetObjectAcl b/k, GetObjectVersionAcl b/k",
            "DELETE | /b/k?uploadId=1          || AbortMultipartUpload b/k",
            "DELETE | /b/k?uploadId=           || none",
            "DELETE | /b/k?uploadId            || none",
            "PUT    | /b/k?partNumber=1&uploadId= || none",
            "DELETE | /b/k?acl                 || DeleteObject b/k",
            "PATCH  | /b/k                     || none",
            "OPTIONS | /b/k                    || ''",
    })
    void eachRequestAsksForItsActions(String method, String uri, String header, String actions) {
        assertThat(wanted(method, uri, header).strip())
                .isEqualTo(actions.replace(" ''", "").replace("''", ""));
    }
}
