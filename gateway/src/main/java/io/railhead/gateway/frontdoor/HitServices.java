package io.railhead.gateway.frontdoor;

import io.railhead.gateway.admission.Admission;
import io.railhead.gateway.object.read.HitLookup;

/** The services of the hit path over HTTP, shared by all event loops. */
public record HitServices(RequestVerifier verifier, HitLookup lookup, Admission admission,
        FrontDoor.Logs logs) {}
