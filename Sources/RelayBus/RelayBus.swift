// Each file here knows errors and times.
@_exported public import RelayEvents
