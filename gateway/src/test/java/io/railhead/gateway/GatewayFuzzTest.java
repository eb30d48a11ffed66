package io.railhead.gateway;

import io.railhead.gateway.events.EventDocumentFuzz;
import io.railhead.gateway.identity.CredentialSealFuzz;
import io.railhead.gateway.object.delete.DeletionListFuzz;
import io.railhead.gateway.request.AddressFuzz;
import io.railhead.gateway.request.RangeFuzz;
import io.railhead.gateway.s3.ErrorXmlFuzz;
import io.railhead.gateway.s3.body.BodyReaderFuzz;
import io.railhead.gateway.s3.sigv4.CanonicalRequestFuzz;
import io.railhead.gateway.s3.sigv4.SigV4Fuzz;
import io.railhead.gateway.sts.StsFuzz;
import io.railhead.protocol.fuzz.FuzzSuite;
import io.railhead.protocol.fuzz.FuzzTarget;
import java.util.List;

class GatewayFuzzTest extends FuzzSuite {

    @Override
    protected List<FuzzTarget> targets() {
        return List.of(new FuzzTarget(SigV4Fuzz.class, SigV4Fuzz::fuzzerTestOneInput),
                new FuzzTarget(BodyReaderFuzz.class, BodyReaderFuzz::fuzzerTestOneInput),
                new FuzzTarget(CanonicalRequestFuzz.class,
                        CanonicalRequestFuzz::fuzzerTestOneInput),
                new FuzzTarget(AddressFuzz.class, AddressFuzz::fuzzerTestOneInput),
                new FuzzTarget(RangeFuzz.class, RangeFuzz::fuzzerTestOneInput),
                new FuzzTarget(DeletionListFuzz.class,
                        DeletionListFuzz::fuzzerTestOneInput),
                new FuzzTarget(EventDocumentFuzz.class, EventDocumentFuzz::fuzzerTestOneInput),
                new FuzzTarget(ErrorXmlFuzz.class, ErrorXmlFuzz::fuzzerTestOneInput),
                new FuzzTarget(StsFuzz.class, StsFuzz::fuzzerTestOneInput),
                new FuzzTarget(CredentialSealFuzz.class,
                        CredentialSealFuzz::fuzzerTestOneInput));
    }
}
