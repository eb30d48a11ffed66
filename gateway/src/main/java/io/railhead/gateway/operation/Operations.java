package io.railhead.gateway.operation;

import io.railhead.gateway.authorization.Replays;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.rdma.dialect.Operation;
import io.railhead.rdma.dialect.PutDecline;
import io.railhead.rdma.session.Sessions;
import java.time.Clock;

/** Builds the table's operations from what they share. */
public final class Operations {

    private Operations() {}

    public static Router router(ReadServices services, Sessions sessions, GatewayConfig.Rdma rdma) {
        PutDecline putDecline = switch (rdma.putDecline()) {
            case FAIL_CLOSED -> PutDecline.ERROR;
            case SPEC -> PutDecline.DRAFT;
        };
        // A signature is acceptable for the token's age before and after its date.
        Replays replays = new Replays(rdma.tokenAge().multipliedBy(3));
        TokenAdmission admission = new TokenAdmission(sessions, services.fabric(), replays,
                rdma.tokenAge(), putDecline,
                Clock.systemUTC(), services.metrics());
        ObjectWrite write = new ObjectWrite(services.relay(), services.cache());
        return new Router(
                new Router.Table(new GetObject(services, admission), new HeadObject(services),
                        new PutObject(services, admission, new ObjectUpload(services),
                                Operation.PUT),
                        new PutObject(services, admission, services.relay(), Operation.PART), write,
                        new DeleteObjects(services.relay(), services.cache()),
                        new BucketWrite(services.relay(), services.cache()), services.relay()));
    }
}
