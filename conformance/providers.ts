import type { OAuthClientProvider, OAuthDiscoveryState } from '@modelcontextprotocol/sdk/client/auth.js';
import type {
  OAuthClientInformationMixed,
  OAuthClientMetadata,
  OAuthTokens,
} from '@modelcontextprotocol/sdk/shared/auth.js';

/** What the suite tells of the client: `client_id` and `client_secret` where it is registered already, and more. */
type Context = Readonly<Record<string, string>>;

/** The tokens of one user, in memory. */
export class UserProvider implements OAuthClientProvider {
  readonly redirectUrl: string | undefined = 'http://127.0.0.1/callback';
  /** The suite expects this one where the authorization server takes a URL for an id (Client ID Metadata Documents). */
  readonly clientMetadataUrl = 'https://conformance-test.local/client-metadata.json';
  private client: OAuthClientInformationMixed | undefined;
  private current: OAuthTokens | undefined;
  private verifier = '';

  constructor({ client_id, client_secret }: Context) {
    if (client_id !== undefined && client_secret !== undefined) this.client = { client_id, client_secret };
  }

  get clientMetadata(): OAuthClientMetadata {
    return {
      client_name: 'mcp-toolset-conformance',
      redirect_uris: this.redirectUrl === undefined ? [] : [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
    };
  }

  clientInformation(): OAuthClientInformationMixed | undefined {
    return this.client;
  }

  saveClientInformation(client: OAuthClientInformationMixed): void {
    this.client = client;
  }

  tokens(): OAuthTokens | undefined {
    return this.current;
  }

  saveTokens(tokens: OAuthTokens): void {
    this.current = tokens;
  }

  /** The user is sent by whoever catches the AuthorizationRequiredError. */
  redirectToAuthorization(): void {
    return;
  }

  saveCodeVerifier(verifier: string): void {
    this.verifier = verifier;
  }

  codeVerifier(): string {
    return this.verifier;
  }
}

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';

/**
 * A user whose employer's identity provider vouches for them (Enterprise-Managed Authorization, SEP-990): an id token is
 * exchanged for a grant, and the grant for an access token.
 */
export class EnterpriseProvider extends UserProvider {
  override readonly redirectUrl = undefined;
  private discovered: OAuthDiscoveryState | undefined;

  constructor(private readonly context: Context) {
    super(context);
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.discovered = state;
  }

  async prepareTokenRequest(): Promise<URLSearchParams> {
    const response = await fetch(this.context.idp_token_endpoint ?? '', {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: TOKEN_EXCHANGE,
        client_id: this.context.idp_client_id ?? '',
        subject_token: this.context.idp_id_token ?? '',
        subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
        requested_token_type: 'urn:ietf:params:oauth:token-type:id-jag',
        audience: this.discovered?.authorizationServerUrl ?? '',
        resource: this.discovered?.resourceMetadata?.resource ?? '',
      }),
    });
    const { access_token: assertion } = (await response.json()) as { access_token?: string };
    if (assertion === undefined) throw new Error(`the identity provider gave no grant (HTTP ${response.status})`);
    return new URLSearchParams({ grant_type: JWT_BEARER, assertion });
  }
}
