package io.railhead.gateway.object.form;

import io.railhead.backend.Caller;
import io.railhead.backend.Payload;
import io.railhead.gateway.authorization.AccessControl;
import io.railhead.gateway.http.FormBody;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.http.Operation;
import io.railhead.gateway.identity.Identity;
import io.railhead.gateway.object.write.BucketWrite;
import io.railhead.gateway.request.Address;
import io.railhead.gateway.request.Route;
import io.railhead.gateway.request.Routes;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.body.BodyReader;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.railhead.gateway.s3.sigv4.PayloadSigning;
import io.railhead.gateway.s3.sigv4.PostPolicy;
import io.vertx.core.buffer.Buffer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An upload by an HTML form. The head before the file is parsed, and the signature of its policy
 * verified. The form is forwarded unchanged if the store knows the same key; otherwise its policy
 * is signed again. Parts behind the file are ignored. The request itself is unsigned; the store
 * enforces the policy. Event loop only.
 */
public final class FormUpload implements Operation {
    /** Three times S3's limit for the fields before the file. */
    private static final int MAX_HEAD_BYTES = 64 << 10;

    private final BucketWrite write;
    private final Site site;

    /** The services that form uploads use. */
    public record Site(PostPolicy policies, Routes routes, AccessControl access,
            InstantSource clock) {}

    public FormUpload(BucketWrite write, Site site) {
        this.write = write;
        this.site = site;
    }

    /** The request and the head that are forwarded. */
    private record Sending(S3Request request, ByteBuffer head) {}

    @Override
    public void handle(HttpExchange httpExchange, S3Request request) {
        String boundary = FormHead.boundary(request.header("content-type"));
        if (boundary == null) {
            throw new S3Refusal(S3Error.MALFORMED_POST_REQUEST);
        }
        long length = BodyReader.untouched(request.headers()).decodedLength();
        if (length < 0) {
            throw new S3Refusal(S3Error.MISSING_CONTENT_LENGTH);
        }
        Buffer read = Buffer.buffer();
        // The head may come byte by byte: parsing it again at each doubling keeps the total work
        // linear.
        int[] due = {1};
        httpExchange.onBody(piece -> {
            read.appendBuffer(piece);
            if (read.length() >= due[0] || read.length() > MAX_HEAD_BYTES) {
                due[0] = 2 * read.length();
                take(httpExchange, request, length, boundary, read);
            }
        }, () -> {
            if (!take(httpExchange, request, length, boundary, read)
                    && !httpExchange.isAnswered()) {
                throw new S3Refusal(S3Error.MALFORMED_POST_REQUEST);
            }
        }, () -> httpExchange.fail(new S3Refusal(S3Error.INCOMPLETE_BODY)));
        if ("100-continue".equalsIgnoreCase(httpExchange.request().getHeader("expect"))) {
            httpExchange.request().response().writeContinue();
        }
        httpExchange.request().resume();
    }

    /** Tries to parse the head; returns true once the upload is being forwarded. */
    private boolean take(HttpExchange httpExchange, S3Request request, long length, String boundary,
            Buffer read) {
        if (httpExchange.isAnswered() || httpExchange.isOver()) {
            return false;
        }
        FormHead head = FormHead.tryRead(read.toString(StandardCharsets.ISO_8859_1), boundary);
        if (head != null) {
            httpExchange.request().pause();
            forward(httpExchange, sending(httpExchange, request, head), length, head, read);
            return true;
        }
        if (read.length() > MAX_HEAD_BYTES) {
            throw new S3Refusal(S3Error.MAX_POST_PRE_DATA_LENGTH_EXCEEDED);
        }
        return false;
    }

    private Sending sending(HttpExchange httpExchange, S3Request request, FormHead form) {
        Map<String, String> fields = form.fields();
        Identity signer = site.policies.authenticate(fields, site.clock.instant());
        byte[] asItCame = form.with(Set.of(), Map.of());
        if (signer == null) {
            requireAllowed(request, fields, form.fileName());
            return new Sending(request, ByteBuffer.wrap(asItCame));
        }
        Authentication.Named named = new Authentication.Named(signer.principal(), signer.key(),
                new PayloadSigning.Unsigned());
        Address object = Address.ofObject(String.valueOf(request.address().bucket()),
                fields.getOrDefault("key", ""));
        Route route = site.routes.route(named, object);
        S3Request signed = new S3Request(request.head(), request.address(), request.query(), named,
                httpExchange.asker(named), new Route(route.backend(), new Caller.Anonymous(),
                        route.namespace(), route.rule(), route.usage()));
        requireAllowed(signed, fields, form.fileName());
        Caller.@Nullable Credential other = otherThan(signer, route.caller());
        byte[] head = other == null
                ? asItCame
                : form.with(PostPolicy.SIGNING, PostPolicy.signedAnew(
                        String.valueOf(fields.get("policy")), other,
                        route.backend().region(),
                        site.clock.instant()));
        return new Sending(signed, ByteBuffer.wrap(head));
    }

    /**
     * Returns the credential to sign with; null if the store knows the key that the form was signed
     * with.
     */
    private static Caller.@Nullable Credential otherThan(Identity signer, Caller caller) {
        return switch (caller) {
            case Caller.Credential known -> known.accessKey().equals(signer.key().id())
                    && signer.key().secret().matches(known.secretKey()) ? null : known;
            case Caller.Anonymous _,Caller.ClientSigned _,Caller.DefaultChain _,Caller.AssumedRole _ ->
                throw new S3Refusal(S3Error.NOT_IMPLEMENTED,
                        "Uploads by forms need a principal whose credential at the store is"
                                + " configured.");
        };
    }

    /**
     * Checks the key against the policy. Some stores keep the folders of a file's name, others
     * strip them: both keys must be allowed.
     */
    private void requireAllowed(S3Request request, Map<String, String> fields, String fileName) {
        String key = fields.getOrDefault("key", "");
        String base = fileName.substring(
                Math.max(fileName.lastIndexOf('/'), fileName.lastIndexOf('\\')) + 1);
        site.access.requireUpload(request, key.replace("${filename}", fileName), fields.keySet());
        site.access.requireUpload(request, key.replace("${filename}", base), fields.keySet());
    }

    private void forward(HttpExchange httpExchange, Sending sending, long length, FormHead head,
            Buffer read) {
        int headBytes = sending.head.remaining();
        long newLength = length - head.length() + headBytes;
        ByteBuffer beginning = ByteBuffer.allocate(headBytes + read.length() - head.length())
                .put(sending.head)
                .put(read.getBytes(head.length(), read.length()))
                .flip();
        BodyReader reader = BodyReader.ofForm(head.boundary(), newLength, headBytes);
        FormBody body = new FormBody(httpExchange, reader, beginning);
        write.forward(httpExchange, sending.request, body,
                new Payload.Stream(body, newLength, "UNSIGNED-PAYLOAD", Map.of()));
    }
}
