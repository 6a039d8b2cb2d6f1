/** An order of a customer. */
export interface Order {
  readonly id: string;
  readonly item: string;
  readonly euros: number;
  readonly month: number;
  readonly state: 'delivered' | 'on its way' | 'being packed';
}

/** Whose token it is, and what they ordered. */
export interface Customer {
  readonly name: string;
  readonly orders: readonly Order[];
}

const order = (id: string, item: string, euros: number, month: number, state: Order['state']): Order => {
  return { id, item, euros, month, state };
};

/** The shop's customers, by their bearer tokens. */
export const CUSTOMERS: ReadonlyMap<string, Customer> = new Map([
  [
    'shop-token-of-ada',
    {
      name: 'Ada',
      orders: [
        order('A-107', 'Desk lamp, brass', 64, 5, 'on its way'),
        order('A-104', 'Punched cards, 500', 23, 4, 'delivered'),
        order('A-101', 'Slide rule', 41, 2, 'delivered'),
      ],
    },
  ],
  [
    'shop-token-of-grace',
    {
      name: 'Grace',
      orders: [
        order('G-212', 'Wire, 30 cm', 9, 6, 'being packed'),
        order('G-207', 'Log book <b>large</b>', 18, 3, 'delivered'), // names may hold anything
      ],
    },
  ],
]);
