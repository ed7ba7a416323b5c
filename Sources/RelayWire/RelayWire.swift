// The wire format carries the values of contracts: each file here knows them.
@_exported public import RelayEvents
