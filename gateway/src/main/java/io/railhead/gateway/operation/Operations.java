package io.railhead.gateway.operation;

import io.railhead.gateway.authorization.AccessControl;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.http.Operation;
import io.railhead.gateway.metrics.Metrics;
import io.railhead.gateway.object.cacheonly.CacheOnlyList;
import io.railhead.gateway.object.delete.DeleteObjects;
import io.railhead.gateway.object.form.FormUpload;
import io.railhead.gateway.object.passthrough.PassThroughGet;
import io.railhead.gateway.object.read.GetObject;
import io.railhead.gateway.object.read.HeadObject;
import io.railhead.gateway.object.read.ReadServices;
import io.railhead.gateway.object.write.BucketWrite;
import io.railhead.gateway.object.write.ObjectUpload;
import io.railhead.gateway.object.write.ObjectWrite;
import io.railhead.gateway.object.write.PutObject;
import io.railhead.gateway.rdma.TokenAdmission;
import io.railhead.gateway.rdma.TokenRejector;
import io.railhead.protocol.token.Dialects;
import io.railhead.protocol.token.PutDecline;
import io.railhead.protocol.token.TokenOperation;

/** Builds the operations of the routing table. */
public final class Operations {

    private Operations() {}

    /** Builds the table for clients whose signature only the store can verify. */
    public static Router passingThrough(ReadServices services, AccessControl access) {
        Metrics metrics = services.metrics();
        Operation relay = new TokenRejector(services.relay(),
                metrics);
        Operation write = new TokenRejector(
                new ObjectWrite(services.relay(), services.cache()),
                metrics);
        Operation delete = new DeleteObjects(services.relay(),
                services.cache(), access);
        BucketWrite bucketWrite = new BucketWrite(services.relay(), services.cache());
        return new Router(
                new Router.Table(new TokenRejector(new PassThroughGet(services), metrics), relay,
                        write, relay, write, new TokenRejector(delete, metrics),
                        bucketWrite, bucketWrite, relay, relay));
    }

    /** Returns the token dialects that the configuration enables. */
    public static Dialects dialects(GatewayConfig.Rdma rdma) {
        PutDecline putDecline = switch (rdma.putDecline()) {
            case FAIL_CLOSED -> PutDecline.ERROR;
            case SPEC -> PutDecline.DRAFT;
        };
        return new Dialects(putDecline, rdma.dialects());
    }

    /** @param forms the services of uploads by HTML forms */
    public static Router router(ReadServices services, TokenAdmission admission,
            AccessControl access, FormUpload.Site forms) {
        ObjectWrite write = new ObjectWrite(services.relay(), services.cache());
        BucketWrite bucketWrite = new BucketWrite(services.relay(), services.cache());
        return new Router(
                new Router.Table(new GetObject(services, admission), new HeadObject(services),
                        new PutObject(services, admission, new ObjectUpload(services),
                                TokenOperation.PUT),
                        new PutObject(services, admission, services.relay(), TokenOperation.PART),
                        write,
                        new DeleteObjects(services.relay(), services.cache(), access),
                        bucketWrite, new FormUpload(bucketWrite, forms),
                        new CacheOnlyList(services.cache(), access, services.relay()),
                        services.relay()));
    }
}
